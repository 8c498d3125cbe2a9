/**
 * How the routes of a flow come, turn live and end. No route takes another's place while that one
 * is fresh: neither a forged ufrag nor a valid one from a spoofed address takes a call away. Time is an input.
 */

import type { Address } from '../../../core/index.ts'
import { FRESH_MS, MAX_CARRYING, MAX_PENDING, REMEMBER_MS, UNCONFIRMED_MS } from './limits.ts'
import {
  HEADER_IS_CHANGING,
  ROUTE_LIVE,
  ROUTE_OPENED,
  ROUTE_PENDING,
  ROUTE_RECOVERED,
  ROUTE_REMEMBERED,
  ROUTE_SESSION,
  ROUTE_SUCCESS,
  ROUTE_UNTIL,
  UFRAG_SESSION,
  UFRAG_UPSTREAM,
} from './records.ts'
import type { RouteTable } from './route-table.ts'
import { writeSession } from './session-words.ts'

/** Ends what is over: pending and recovered routes out of time, and a stale live route beside a fresh one. */
export function settleRoutes(now: number, flow: number, routes: RouteTable): void {
  let route = routes.first(flow)
  // As it nearly always is: one route that is live, which alone is never over.
  if (route !== 0 && routes.next(route) === 0 && routes.kind(route) === ROUTE_LIVE) return
  while (route !== 0) {
    const next = routes.next(route)
    if (isOver(now, flow, route, routes)) {
      routes.words[HEADER_IS_CHANGING] = 1
      routes.end(now, route)
    }
    route = next
  }
}

/**
 * Adds a route that waits for its first success; a third one pushes out the oldest of those that wait. 0 when there is
 * no place for it.
 */
export function addPending(now: number, flow: number, ufrag: number, routes: RouteTable): number {
  const { words } = routes
  if (routes.count(flow, true) >= MAX_PENDING) routes.end(now, oldestPending(flow, routes))
  const route = routes.add(now, flow, ROUTE_PENDING, words[ufrag + UFRAG_UPSTREAM]!, now + UNCONFIRMED_MS)
  if (route !== 0) routes.setSession(route, words[ufrag + UFRAG_SESSION]!, words[ufrag + UFRAG_SESSION + 1]!)
  return route
}

/**
 * Adds a route as the recovery store said, or lets one that waits carry; 0 when the flow has one that carries already,
 * or there is no place for it.
 */
export function addRecovered(
  now: number,
  flow: number,
  transceiver: Address,
  session: Uint8Array,
  cluster: number,
  routes: RouteTable,
): number {
  if (routes.count(flow, false) > 0) return 0
  const until = now + UNCONFIRMED_MS
  const waiting = routes.to(flow, transceiver)
  if (waiting !== 0) {
    routes.renew(waiting, ROUTE_RECOVERED, until)
    return waiting
  }
  const upstream = routes.upstreams.hold(transceiver, cluster)
  if (upstream === 0) return 0
  const route = routes.add(now, flow, ROUTE_RECOVERED, upstream, until)
  routes.upstreams.release(upstream)
  if (route !== 0) writeSession(routes.words, route + ROUTE_SESSION, session)
  return route
}

/**
 * A success response came from this route: it is live from now on, unless two others carry and neither is stale;
 * then it goes on waiting. A recovered route to which no request went yet has nothing to answer: what says so is
 * whoever the store named, and no transceiver of this client. Returns whether it has become live by this response.
 */
export function succeed(now: number, flow: number, route: number, routes: RouteTable): boolean {
  const { words } = routes
  const kind = routes.kind(route)
  if (routes.ufragCount(route) === 0) return false
  if (kind === ROUTE_PENDING && !makePlace(now, flow, routes)) return false
  const ufrag = routes.ufrag(route, routes.latest(route))
  routes.setSession(route, words[ufrag + UFRAG_SESSION]!, words[ufrag + UFRAG_SESSION + 1]!)
  words[route + ROUTE_SUCCESS] = now
  if (kind === ROUTE_LIVE) return false
  routes.makeLive(route)
  words[route + ROUTE_REMEMBERED] = now - REMEMBER_MS
  return true
}

/**
 * Whether the recovery store should hear of a live route: the incumbent, at most every REMEMBER_MS. What this says of
 * is taken as remembered.
 */
export function isDue(now: number, route: number, routes: RouteTable): boolean {
  const { words } = routes
  if (!routes.isIncumbent(route)) {
    // It may become the incumbent at any time, and is due then.
    words[route + ROUTE_REMEMBERED] = now - REMEMBER_MS
    return false
  }
  if (((now - words[route + ROUTE_REMEMBERED]!) | 0) < REMEMBER_MS) return false
  words[route + ROUTE_REMEMBERED] = now
  return true
}

function isOver(now: number, flow: number, route: number, routes: RouteTable): boolean {
  const { words } = routes
  if (routes.kind(route) !== ROUTE_LIVE) return ((words[route + ROUTE_UNTIL]! - now) | 0) <= 0
  return isStale(now, route, routes) && hasFresh(now, flow, routes)
}

/** A live route without a success for FRESH_MS. */
function isStale(now: number, route: number, { words }: RouteTable): boolean {
  return ((now - words[route + ROUTE_SUCCESS]!) | 0) >= FRESH_MS
}

function hasFresh(now: number, flow: number, routes: RouteTable): boolean {
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (routes.kind(route) === ROUTE_LIVE && !isStale(now, route, routes)) return true
  }
  return false
}

/** Room for one more route that carries; a stale one makes way, a fresh or recovered one does not. */
function makePlace(now: number, flow: number, routes: RouteTable): boolean {
  const { words } = routes
  if (routes.count(flow, false) < MAX_CARRYING) return true
  let stalest = 0
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (routes.kind(route) !== ROUTE_LIVE || !isStale(now, route, routes)) continue
    if (stalest === 0 || ((words[route + ROUTE_SUCCESS]! - words[stalest + ROUTE_SUCCESS]!) | 0) < 0) {
      stalest = route
    }
  }
  if (stalest === 0) return false
  routes.end(now, stalest)
  return true
}

function oldestPending(flow: number, routes: RouteTable): number {
  const { words } = routes
  let oldest = 0
  // The chain has the newest in front: of two that are as old, the later one was there first.
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (routes.kind(route) !== ROUTE_PENDING) continue
    if (oldest === 0 || ((words[route + ROUTE_OPENED]! - words[oldest + ROUTE_OPENED]!) | 0) <= 0)
      oldest = route
  }
  return oldest
}
