/** Finds where a ufrag leads: remembered, or decoded behind cheap checks and within a budget. */

import type { Address, Route } from '../../../core/index.ts'
import { type DropReason, numberOf } from './drop-reasons.ts'
import { MAX_UFRAG, MIN_UFRAG } from './limits.ts'
import { UFRAG_UPSTREAM } from './records.ts'
import type { RelayState } from './relay-state.ts'

/** Idle ufrags that one datagram may push out, to free the place of a transceiver. */
const TRIES = 64

/** 1 for what a ufrag may consist of. */
const ALPHABET = Uint8Array.from({ length: 256 }, (_, c) => Number(/[a-z0-9]/.test(String.fromCharCode(c))))

/**
 * The entry of the ufrag that `state.stun` points at and `state.digest` is of; its refusal says why it leads nowhere.
 * Below 0, -1 minus a reason's number, when it is not worth a decode, or there is no budget or no place for one. Flows may
 * end, to make room.
 */
export function resolveUfrag(state: RelayState, now: number, source: Address, bytes: Uint8Array): number {
  const known = state.ufrags.find(now, state.digest)
  if (known !== 0) return hasMoved(state, known) ? move(state, known) : known
  if (!state.budget.spend(now, source)) return refuse('decode_budget')
  return decode(state, now, bytes, state.stun.ufragStart, state.stun.ufragEnd)
}

/** The contract of RoutingCodec: 4 to 96 characters of [a-z0-9]. */
export function looksEncoded(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < MIN_UFRAG || end - start > MAX_UFRAG) return false
  // Letters and digits come in no order that a processor could guess, so there is nothing to guess here.
  let isEncoded = 1
  for (let i = start; i < end; i++) isEncoded &= ALPHABET[bytes[i]!]!
  return isEncoded === 1
}

function decode(state: RelayState, now: number, bytes: Uint8Array, start: number, end: number): number {
  state.counters.decoded()
  const route = looksEncoded(bytes, start, end) ? state.codec.decode(bytes, start, end, 'ufrag') : undefined
  if (route === undefined && state.fallback) return fallBack(state, now, state.fallback)
  if (route === undefined) return remember(state, now, 0, undefined, 'unroutable_ufrag')
  if (state.clusters.has(route.cluster)) return decoded(state, now, route)
  const refusal = state.allowed.refusal(route.cluster, route.address)
  if (refusal !== undefined) return remember(state, now, 0, undefined, refusal)
  const upstream = holdUpstream(state, now, route.address)
  if (upstream === 0) return refuse('table_full')
  const ufrag = remember(state, now, upstream, route.session, undefined)
  if (ufrag < 0) state.upstreams.release(upstream)
  return ufrag
}

/** A ufrag that no codec of ours wrote leads to the server whose ufrags are its own. */
function fallBack(state: RelayState, now: number, server: Address): number {
  if (state.allowed.isOwn(server)) return remember(state, now, 0, undefined, 'own_address')
  const upstream = holdUpstream(state, now, server)
  if (upstream === 0) return refuse('table_full')
  const ufrag = remember(state, now, upstream, undefined, undefined)
  if (ufrag < 0) state.upstreams.release(upstream)
  return ufrag
}

/** Whether a ufrag leads to a cluster's relay that is elsewhere by now; an address of ours is no such place. */
export function hasMoved({ allowed, clusters, upstreams, routes }: RelayState, ufrag: number): boolean {
  const upstream = routes.words[ufrag + UFRAG_UPSTREAM]!
  if (upstream === 0) return false
  const cluster = upstreams.clusterOf(upstream)
  const relay = cluster < 0 ? undefined : clusters.relayOf(cluster)
  return relay !== undefined && !upstreams.is(upstream, relay) && !allowed.isOwn(relay)
}

/** Leads a ufrag to where its cluster's relay is now, if there is a place for that. */
function move({ clusters, upstreams, routes }: RelayState, ufrag: number): number {
  const before = routes.words[ufrag + UFRAG_UPSTREAM]!
  const cluster = upstreams.clusterOf(before)
  const upstream = upstreams.hold(clusters.relayOf(cluster)!, cluster)
  if (upstream === 0) return ufrag
  routes.words[ufrag + UFRAG_UPSTREAM] = upstream
  upstreams.release(before)
  return ufrag
}

/** A route of another cluster leads to that cluster's relay, wherever its transceiver is. */
function decoded(state: RelayState, now: number, { cluster, session }: Route): number {
  const relay = state.clusters.relayOf(cluster)
  if (relay === undefined) return refuse('cluster_unreachable')
  if (state.allowed.isOwn(relay)) return remember(state, now, 0, undefined, 'own_address')
  const upstream = holdUpstream(state, now, relay, cluster)
  if (upstream === 0) return refuse('table_full')
  const ufrag = remember(state, now, upstream, session, undefined)
  if (ufrag < 0) state.upstreams.release(upstream)
  return ufrag
}

function remember(
  { ufrags, digest, routes, flows }: RelayState,
  now: number,
  upstream: number,
  session: Uint8Array | undefined,
  refusal: DropReason | undefined,
): number {
  let ufrag = ufrags.add(now, digest, upstream, session, refusal)
  if (ufrag === 0 && refusal !== undefined) return refuse(refusal)
  for (let i = 0; ufrag === 0 && i < TRIES && (routes.evict(now) || flows.evict(now)); i++) {
    ufrag = ufrags.add(now, digest, upstream, session, refusal)
  }
  return ufrag === 0 ? refuse('table_full') : ufrag
}

function holdUpstream(
  { upstreams, ufrags, routes, flows }: RelayState,
  now: number,
  address: Address,
  cluster = -1,
): number {
  let upstream = upstreams.hold(address, cluster)
  for (let i = 0; upstream === 0 && i < TRIES; i++) {
    if (!ufrags.dropIdle() && !routes.evict(now) && !flows.evict(now)) return 0
    upstream = upstreams.hold(address, cluster)
  }
  return upstream
}

function refuse(reason: DropReason): number {
  return -1 - numberOf(reason)
}
