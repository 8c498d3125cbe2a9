/**
 * Decides on a datagram from a client: Binding requests follow their USERNAME, other STUN
 * goes to every route of the flow, everything else to the routes that carry. Never throws. Allocates only where a
 * ufrag is decoded.
 */

import { type Address, packetKind, readStun, SPP_LENGTH, STUN_BINDING_REQUEST } from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import { DROP_REASONS, type DropReason } from './drop-reasons.ts'
import { addPending, settleRoutes } from './flow-routes.ts'
import { MAX_CLIENT_DATAGRAM, UFRAGS_PER_ROUTE } from './limits.ts'
import { endUp } from './outcome.ts'
import { ROUTE_LIVE, ROUTE_PENDING, ROUTE_UPSTREAM, UFRAG_UPSTREAM } from './records.ts'
import { changing, openFlow, type RelayState } from './relay-state.ts'
import { hasMoved, looksEncoded, resolveUfrag } from './resolve-ufrag.ts'

/** Fills `into` for bytes[start, end), which came from `source` to the public socket number `local`. */
export function fromClient(
  state: RelayState,
  now: number,
  local: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): void {
  into.reset()
  const reason = decideOnClient(state, now | 0, local, source, bytes, start, end, into)
  endUp(state, reason, end - start, into)
}

/**
 * The same without counting, also for what came through another relay: `local` is the hop's number then. Why it is
 * dropped, or undefined when `into` says where it goes.
 */
export function decideOnClient(
  state: RelayState,
  now: number,
  local: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): DropReason | undefined {
  if (end <= start) return 'empty'
  if (end - start > MAX_CLIENT_DATAGRAM - (state.framing.length - SPP_LENGTH)) return 'oversize'
  const kind = packetKind(bytes[start]!)
  if (kind === 'framing') return 'framing'
  if (kind === 'unknown') return 'unknown_protocol'
  const { stun } = state
  if (kind === 'stun' && !readStun(bytes, start, end, stun)) return 'malformed_stun'
  const isRequest = kind === 'stun' && stun.type === STUN_BINDING_REQUEST
  if (isRequest && stun.hasUsername && stun.ufragStart < 0) return 'bad_ufrag'

  const flow = state.flows.find(now, local, source)
  if (flow !== 0) settleRoutes(now, flow, state.routes)
  if (isRequest && stun.hasUsername) return byUfrag(state, now, local, source, bytes, flow, into)
  if (flow !== 0) {
    into.flow = flow
    addCarrying(state, flow, into)
    if (kind === 'stun' && !isRequest) addWaiting(state, now, flow, into)
  }
  if (into.count > 0) return undefined
  into.wantsLookUp = kind !== 'stun'
  return 'no_route'
}

/** Everything that is not a request with a USERNAME goes to the routes that carry. */
function addCarrying({ routes }: RelayState, flow: number, into: Decision): void {
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (routes.kind(route) !== ROUTE_PENDING) into.add(routes.transceiver(route), routes.cluster(route))
  }
}

/** STUN other than requests goes to pending routes as well, within the bounds of their ufrags. */
function addWaiting({ routes, ufrags }: RelayState, now: number, flow: number, into: Decision): void {
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (routes.kind(route) !== ROUTE_PENDING) continue
    if (ufrags.spend(now, routes.ufrag(route, routes.latest(route))))
      into.add(routes.transceiver(route), routes.cluster(route))
  }
}

/** A Binding request with a USERNAME: where it leads has nothing to do with what the flow has so far. */
function byUfrag(
  state: RelayState,
  now: number,
  local: number,
  source: Address,
  bytes: Uint8Array,
  flow: number,
  into: Decision,
): DropReason | undefined {
  const { stun, digest, ufrags, routes } = state
  if (state.fallback === undefined && !looksEncoded(bytes, stun.ufragStart, stun.ufragEnd)) return 'bad_ufrag'
  digest.update(bytes, stun.ufragStart, stun.ufragEnd)
  if (flow !== 0 && followKnown(state, now, flow, into)) return into.count > 0 ? undefined : 'ufrag_rate'
  changing(state.memory)
  const ufrag = resolveUfrag(state, now, source, bytes)
  if (ufrag < 0) {
    const reason = DROP_REASONS[-1 - ufrag]!
    return isAbroad(reason) && state.hops.isHop(local) ? 'foreign_from_relay' : reason
  }
  const refusal = ufrags.refusalOf(ufrag)
  if (refusal !== undefined)
    return isAbroad(refusal) && state.hops.isHop(local) ? 'foreign_from_relay' : refusal
  if (state.hops.isHop(local) && routes.upstreams.clusterOf(routes.words[ufrag + UFRAG_UPSTREAM]!) >= 0) {
    return 'foreign_from_relay'
  }
  if (!ufrags.admits(ufrag, source)) return 'ufrag_addresses'
  // Asked for once more: to make room for the ufrag, flows and routes may have ended.
  const found = state.flows.find(now, local, source)
  if (found === 0 && !state.allowed.isClient(source)) return 'bad_source'
  // Asked for before a flow is opened, so that a flood of one ufrag pushes nobody out of the table.
  const known = found === 0 ? 0 : routeOf(state, found, ufrag)
  if ((known === 0 || routes.kind(known) !== ROUTE_LIVE) && !ufrags.spend(now, ufrag)) return 'ufrag_rate'
  const home = found || openFlow(state, now, local, source, true)
  if (home === 0) return 'table_full'
  const route = known || addPending(now, home, ufrag, routes)
  if (route === 0) return 'table_full'
  routes.attach(now, route, ufrag)
  into.flow = home
  into.add(routes.transceiver(route), routes.cluster(route))
  if (known === 0) into.note('opened', now, local, source, route, routes)
  return undefined
}

/** Whether that is said of routes of other clusters. */
function isAbroad(reason: DropReason): boolean {
  return reason === 'foreign_cluster' || reason === 'cluster_unreachable'
}

/** The flow's route to where a ufrag leads, or 0. */
function routeOf({ routes }: RelayState, flow: number, ufrag: number): number {
  const { words } = routes
  const upstream = words[ufrag + UFRAG_UPSTREAM]
  let route = routes.first(flow)
  while (route !== 0 && words[route + ROUTE_UPSTREAM] !== upstream) route = routes.next(route)
  return route
}

/** A ufrag that the flow knows costs a comparison. True when one did, and then it is forwarded unless it was too many. */
function followKnown(state: RelayState, now: number, flow: number, into: Decision): boolean {
  const { routes, ufrags, digest } = state
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    for (let place = 0; place < UFRAGS_PER_ROUTE; place++) {
      const ufrag = routes.ufrag(route, place)
      if (ufrag === 0 || !ufrags.is(ufrag, digest)) continue
      // Its relay is elsewhere by now: that is another route, and this one ends by itself.
      if (hasMoved(state, ufrag)) return false
      if (routes.words[ufrag + UFRAG_UPSTREAM] !== routes.words[route + ROUTE_UPSTREAM]) continue
      routes.setLatest(route, place)
      into.flow = flow
      if (routes.kind(route) === ROUTE_LIVE || ufrags.spend(now, ufrag))
        into.add(routes.transceiver(route), routes.cluster(route))
      return true
    }
  }
  return false
}
