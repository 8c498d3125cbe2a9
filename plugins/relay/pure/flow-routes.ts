/**
 * How the routes of a flow come, turn live and end (DESIGN §2 rule 3). No route takes another's place while that one
 * is fresh: neither a forged ufrag nor a valid one from a spoofed address takes a call away. Time is an input.
 */

import type { Address } from '../../../core/index.ts'
import { type Flow, FlowRoute, type RouteState } from './flow.ts'
import { FRESH_MS, MAX_CARRYING, MAX_PENDING, UFRAGS_PER_ROUTE, UNCONFIRMED_MS } from './limits.ts'
import type { Ufrag } from './ufrag.ts'
import type { UfragTable } from './ufrag-table.ts'

/** Ends what is over: pending and recovered routes out of time, and a stale live route beside a fresh one. */
export function settleRoutes(now: number, flow: Flow, ufrags: UfragTable): void {
  for (let i = flow.routes.length - 1; i >= 0; i--) {
    const route = flow.routes[i]!
    if (route.state === 'live' ? isOutlived(now, flow, route) : route.until <= now) {
      endRoute(flow, route, ufrags)
    }
  }
}

/** Adds a route that waits for its first success; a third one pushes out the oldest of those that wait. */
export function addPending(now: number, flow: Flow, ufrag: Ufrag, ufrags: UfragTable): FlowRoute {
  const { address, session } = ufrag.route!
  if (flow.count(true) >= MAX_PENDING) endRoute(flow, oldestPending(flow), ufrags)
  return addRoute(now, flow, 'pending', address, session)
}

/**
 * Adds a route as the recovery store said, or lets one that waits carry; undefined when the flow has one that carries
 * already.
 */
export function addRecovered(
  now: number,
  flow: Flow,
  transceiver: Address,
  session: Uint8Array,
): FlowRoute | undefined {
  if (flow.count(false) > 0) return undefined
  const waiting = flow.routeTo(transceiver)
  if (waiting === undefined) return addRoute(now, flow, 'recovered', transceiver, session)
  waiting.state = 'recovered'
  waiting.until = now + UNCONFIRMED_MS
  return waiting
}

/** The route is known by this ufrag from now on; a third one pushes out the older of two. */
export function attachUfrag(flow: Flow, route: FlowRoute, ufrag: Ufrag, ufrags: UfragTable): void {
  ufrags.hold(ufrag, flow.client)
  if (route.ufrags.length < UFRAGS_PER_ROUTE) {
    route.latest = route.ufrags.push(ufrag) - 1
    return
  }
  route.latest = 1 - route.latest
  ufrags.release(route.ufrags[route.latest]!, flow.client)
  route.ufrags[route.latest] = ufrag
}

/**
 * A success response came from this route: it is live from now on, unless two others carry and neither is stale;
 * then it goes on waiting. A recovered route to which no request went yet has nothing to answer: what says so is
 * whoever the store named, and no transceiver of this client. Returns whether it has become live by this response.
 */
export function succeed(now: number, flow: Flow, route: FlowRoute, ufrags: UfragTable): boolean {
  const isNew = route.state !== 'live'
  if (route.ufrags.length === 0) return false
  if (route.state === 'pending' && !makePlace(now, flow, ufrags)) return false
  route.lastSuccess = now
  route.session = route.ufrags[route.latest]?.route?.session ?? route.session
  if (!isNew) return false
  route.state = 'live'
  route.liveAt = now
  return true
}

/** Lets go of all that the flow's routes hold. */
export function endRoutes(flow: Flow, ufrags: UfragTable): void {
  while (flow.routes.length > 0) endRoute(flow, flow.routes[0]!, ufrags)
}

function addRoute(
  now: number,
  flow: Flow,
  state: RouteState,
  transceiver: Address,
  session: Uint8Array,
): FlowRoute {
  const route = new FlowRoute(state, transceiver, session, now, now + UNCONFIRMED_MS)
  flow.routes.push(route)
  return route
}

function endRoute(flow: Flow, route: FlowRoute, ufrags: UfragTable): void {
  for (let i = 0; i < route.ufrags.length; i++) ufrags.release(route.ufrags[i]!, flow.client)
  route.ufrags.length = 0
  const last = flow.routes.pop()!
  if (last !== route) flow.routes[flow.routes.indexOf(route)] = last
}

/** No success for FRESH_MS, while another route had one since. */
function isOutlived(now: number, flow: Flow, route: FlowRoute): boolean {
  if (now - route.lastSuccess < FRESH_MS) return false
  for (let i = 0; i < flow.routes.length; i++) {
    if (now - flow.routes[i]!.lastSuccess < FRESH_MS) return true
  }
  return false
}

/** Room for one more route that carries; a stale one makes way, a fresh or recovered one does not. */
function makePlace(now: number, flow: Flow, ufrags: UfragTable): boolean {
  if (flow.count(false) < MAX_CARRYING) return true
  let stalest: FlowRoute | undefined
  for (let i = 0; i < flow.routes.length; i++) {
    const route = flow.routes[i]!
    if (route.state !== 'live' || now - route.lastSuccess < FRESH_MS) continue
    if (stalest === undefined || route.lastSuccess < stalest.lastSuccess) stalest = route
  }
  if (stalest === undefined) return false
  endRoute(flow, stalest, ufrags)
  return true
}

function oldestPending(flow: Flow): FlowRoute {
  let oldest: FlowRoute | undefined
  for (let i = 0; i < flow.routes.length; i++) {
    const route = flow.routes[i]!
    if (route.state === 'pending' && (oldest === undefined || route.openedAt < oldest.openedAt))
      oldest = route
  }
  return oldest!
}
