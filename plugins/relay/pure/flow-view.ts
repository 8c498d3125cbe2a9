/**
 * A flow as others see it: copied out of the relay's memory, for the flow view and for spans. Reading one while another
 * thread writes gives half of the old and half of the new at worst. Times are the low 32 bits of milliseconds.
 */

import { Address } from '../../../core/index.ts'
import {
  FLOW_BYTES_DOWN,
  FLOW_BYTES_HIGH,
  FLOW_BYTES_UP,
  FLOW_CONFIRMED,
  FLOW_HOME,
  FLOW_KEY,
  FLOW_OPENED,
  FLOW_PACKETS_DOWN,
  FLOW_PACKETS_UP,
  FLOW_ROUTE,
  FLOW_STATE,
  FLOW_UNTIL,
  FLOW_W0,
  FLOW_W1,
  FLOW_W2,
  FLOW_W3,
  ROUTE_FLOW,
  ROUTE_IS_INCUMBENT,
  ROUTE_KIND,
  ROUTE_LIVE,
  ROUTE_NEXT,
  ROUTE_OPENED,
  ROUTE_PENDING,
  ROUTE_SESSION,
  ROUTE_STATE,
  ROUTE_SUCCESS,
  ROUTE_UNTIL,
  ROUTE_UPSTREAM,
} from './records.ts'
import type { RouteTable } from './route-table.ts'
import { readSession } from './session-words.ts'

/**
 * What a route may do. `pending`: hears requests, and only its STUN responses pass down. `recovered`: as the store
 * said; carries everything, but ends soon unless a success confirms it. `live`: had a success; carries everything.
 */
export type RouteState = 'pending' | 'recovered' | 'live'

/** Routes that a flow can have. */
const MAX_ROUTES = 4

/** One transceiver of a flow. */
export class RouteView {
  state: RouteState = 'pending'
  readonly transceiver = new Address()
  /** The session whose request came last before the latest success. */
  readonly session = new Uint8Array(8)
  openedAt = 0
  /** When a pending or recovered route ends. */
  until = 0
  /** The latest success of a live route. */
  lastSuccess = 0
  isIncumbent = false

  /** Becomes the view of a route. */
  read({ words, upstreams }: RouteTable, route: number): void {
    const state = words[route + ROUTE_STATE]!
    const kind = state & ROUTE_KIND
    this.state = kind === ROUTE_LIVE ? 'live' : kind === ROUTE_PENDING ? 'pending' : 'recovered'
    this.isIncumbent = (state & ROUTE_IS_INCUMBENT) !== 0
    const upstream = words[route + ROUTE_UPSTREAM]!
    if (upstreams.pool.has(upstream)) upstreams.read(upstream, this.transceiver)
    readSession(words, route + ROUTE_SESSION, this.session)
    this.openedAt = words[route + ROUTE_OPENED]!
    this.until = words[route + ROUTE_UNTIL]!
    this.lastSuccess = words[route + ROUTE_SUCCESS]!
  }

  /** Milliseconds since it was opened. */
  ageMs(now: number): number {
    return elapsed(now, this.openedAt)
  }

  /** Milliseconds since the latest success of a live route. */
  sinceSuccessMs(now: number): number {
    return elapsed(now, this.lastSuccess)
  }
}

/** A client's flow. */
export class FlowView {
  /** Which of our public sockets the client sends to. */
  local = 0
  readonly client = new Address()
  isConfirmed = false
  openedAt = 0
  /** When it ends, unless a success comes first. */
  until = 0
  packetsUp = 0
  bytesUp = 0
  packetsDown = 0
  bytesDown = 0
  /** At most two pending ones and two others, in no order. */
  readonly routes: RouteView[] = []

  /** Becomes the view of a flow. */
  read(routes: RouteTable, flow: number): this {
    const { words } = routes
    this.readKey(words, flow)
    this.isConfirmed = (words[flow + FLOW_KEY]! & FLOW_STATE) === FLOW_CONFIRMED
    this.openedAt = words[flow + FLOW_OPENED]!
    this.until = words[flow + FLOW_UNTIL]!
    this.packetsUp = words[flow + FLOW_PACKETS_UP]! >>> 0
    this.packetsDown = words[flow + FLOW_PACKETS_DOWN]! >>> 0
    const high = words[flow + FLOW_BYTES_HIGH]!
    this.bytesUp = (high >>> 16) * 2 ** 32 + (words[flow + FLOW_BYTES_UP]! >>> 0)
    this.bytesDown = (high & 0xffff) * 2 ** 32 + (words[flow + FLOW_BYTES_DOWN]! >>> 0)
    this.#readRoutes(routes, flow)
    return this
  }

  /** Becomes the view of a flow's key alone. */
  readKey(words: Int32Array, flow: number): this {
    const key = words[flow + FLOW_KEY]!
    this.local = (key & 0xffff) >>> 2
    this.client.set(
      words[flow + FLOW_W0]!,
      words[flow + FLOW_W1]!,
      words[flow + FLOW_W2]!,
      words[flow + FLOW_W3]!,
      key >>> 16,
    )
    return this
  }

  /** How many routes carry media (`pending` false) or wait for their first success (true). */
  count(pending: boolean): number {
    return this.routes.filter((route) => (route.state === 'pending') === pending).length
  }

  /** The live route that became so first: the one whose place in the recovery store no other takes. */
  get incumbent(): RouteView | undefined {
    return this.routes.find((route) => route.isIncumbent)
  }

  /** Milliseconds since it was opened. */
  ageMs(now: number): number {
    return elapsed(now, this.openedAt)
  }

  /** Milliseconds until it ends. */
  endsInMs(now: number): number {
    return (this.until - now) | 0
  }

  /** Another thread may be at it: a route that is none, or another flow's by now, ends the chain. */
  #readRoutes(routes: RouteTable, flow: number): void {
    const { words } = routes
    let count = 0
    let route = words[flow + FLOW_ROUTE]!
    while (count < MAX_ROUTES && this.#isRoute(routes, flow, route)) {
      this.routes[count] ??= new RouteView()
      this.routes[count]!.read(routes, route)
      count++
      route = words[route + ROUTE_NEXT]!
    }
    this.routes.length = count
  }

  #isRoute({ words, pool }: RouteTable, flow: number, route: number): boolean {
    if (route !== flow + FLOW_HOME && !pool.has(route)) return false
    return words[route + ROUTE_FLOW] === flow && (words[route + ROUTE_STATE]! & ROUTE_KIND) !== 0
  }
}

function elapsed(now: number, since: number): number {
  return (now - since) >>> 0
}
