/** Finds where a ufrag leads: remembered, or decoded behind cheap checks and within a budget (DESIGN §2 rule 5). */

import type { Address } from '../../../core/index.ts'
import { type DropReason, numberOf } from './drop-reasons.ts'
import { MAX_UFRAG, MIN_UFRAG } from './limits.ts'
import type { RelayState } from './relay-state.ts'

/** Idle ufrags that one datagram may push out, to free the place of a transceiver. */
const TRIES = 64

/** 1 for what a ufrag may consist of. */
const ALPHABET = Uint8Array.from({ length: 256 }, (_, c) => Number(/[a-z0-9]/.test(String.fromCharCode(c))))

/**
 * The entry of the ufrag that `state.stun` points at and `state.digest` is of; its refusal says why it leads nowhere.
 * Below 0, a reason (`reasonOf`), when it is not worth a decode, or there is no budget or no place for one. Flows may
 * end, to make room.
 */
export function resolveUfrag(state: RelayState, now: number, source: Address, bytes: Uint8Array): number {
  const known = state.ufrags.find(now, state.digest)
  if (known !== 0) return known
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
  const route = state.codec.decode(bytes, start, end, 'ufrag')
  if (route === undefined) return remember(state, now, 0, undefined, 'unroutable_ufrag')
  const refusal = state.allowed.refusal(route.cluster, route.address)
  if (refusal !== undefined) return remember(state, now, 0, undefined, refusal)
  const upstream = holdUpstream(state, now, route.address)
  if (upstream === 0) return refuse('table_full')
  const ufrag = remember(state, now, upstream, route.session, undefined)
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
): number {
  let upstream = upstreams.hold(address)
  for (let i = 0; upstream === 0 && i < TRIES; i++) {
    if (!ufrags.dropIdle() && !routes.evict(now) && !flows.evict(now)) return 0
    upstream = upstreams.hold(address)
  }
  return upstream
}

function refuse(reason: DropReason): number {
  return -1 - numberOf(reason)
}
