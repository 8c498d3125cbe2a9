/**
 * The routes of flows: each flow has a place for one of its own, and a pool has places for others. Of the routes in the
 * pool those that wait are in a list, oldest first: the oldest makes room when the pool is empty, so that only routes
 * that a transceiver confirmed can use it up.
 */

import type { Address } from '../../../core/index.ts'
import { UFRAGS_PER_ROUTE } from './limits.ts'
import { Pool } from './pool.ts'
import { RecordList } from './record-list.ts'
import {
  FLOW_HOME,
  FLOW_ROUTE,
  HEADER_ROUTE_POOL,
  HEADER_WAITING,
  ROUTE_FLOW,
  ROUTE_IS_INCUMBENT,
  ROUTE_IS_SECOND,
  ROUTE_KIND,
  ROUTE_LIVE,
  ROUTE_NEWER,
  ROUTE_NEXT,
  ROUTE_OLDER,
  ROUTE_OPENED,
  ROUTE_PENDING,
  ROUTE_RECOVERED,
  ROUTE_SESSION,
  ROUTE_STATE,
  ROUTE_UFRAG,
  ROUTE_UNTIL,
  ROUTE_UPSTREAM,
} from './records.ts'
import type { RelayMemory } from './relay-memory.ts'
import type { UfragTable } from './ufrag-table.ts'
import type { Upstreams } from './upstreams.ts'

/** The routes of one worker's flows. */
export class RouteTable {
  readonly words: Int32Array
  readonly pool: Pool
  readonly waiting: RecordList
  readonly ufrags: UfragTable
  readonly upstreams: Upstreams

  constructor(memory: RelayMemory, ufrags: UfragTable, upstreams: Upstreams) {
    this.words = memory.words
    this.ufrags = ufrags
    this.upstreams = upstreams
    this.pool = new Pool(memory.words, HEADER_ROUTE_POOL, memory.layout.routes, ROUTE_NEXT)
    this.waiting = new RecordList(memory.words, HEADER_WAITING, ROUTE_OLDER, ROUTE_NEWER)
  }

  /** The first of a flow's routes, 0 when it has none; `next` goes on. */
  first(flow: number): number {
    const route = this.words[flow + FLOW_ROUTE]!
    // The processor guesses that it is the flow's own place, and fetches that beside the flow instead of after it.
    return route === flow + FLOW_HOME ? flow + FLOW_HOME : route
  }

  next(route: number): number {
    return this.words[route + ROUTE_NEXT]!
  }

  /** ROUTE_PENDING, ROUTE_RECOVERED or ROUTE_LIVE. */
  kind(route: number): number {
    return this.words[route + ROUTE_STATE]! & ROUTE_KIND
  }

  /** Whether it is as the recovery store said. */
  isRecovered(route: number): boolean {
    return this.kind(route) === ROUTE_RECOVERED
  }

  /** Where it leads; not to be changed. */
  transceiver(route: number): Address {
    return this.upstreams.addressOf(this.words[route + ROUTE_UPSTREAM]!)
  }

  /** The cluster whose relay it leads to, -1 when it leads to a transceiver of ours. */
  cluster(route: number): number {
    return this.upstreams.clusterOf(this.words[route + ROUTE_UPSTREAM]!)
  }

  /** The flow's route to a transceiver, or 0. */
  to(flow: number, transceiver: Address): number {
    let route = this.first(flow)
    while (route !== 0 && !this.upstreams.is(this.words[route + ROUTE_UPSTREAM]!, transceiver)) {
      route = this.next(route)
    }
    return route
  }

  /** How many routes carry media (`pending` false) or wait for their first success (true). */
  count(flow: number, pending: boolean): number {
    let n = 0
    for (let route = this.first(flow); route !== 0; route = this.next(route)) {
      if ((this.kind(route) === ROUTE_PENDING) === pending) n++
    }
    return n
  }

  /** Adds a pending or recovered route that ends at `until`; 0 when there is no place for it. The caller keeps its reference to the upstream. */
  add(now: number, flow: number, kind: number, upstream: number, until: number): number {
    const { words } = this
    const route = this.#place(now, flow)
    if (route === 0) return 0
    this.upstreams.share(upstream)
    words.fill(0, route + ROUTE_FLOW, route + ROUTE_NEWER + 1)
    words[route + ROUTE_FLOW] = flow
    words[route + ROUTE_UPSTREAM] = upstream
    words[route + ROUTE_OPENED] = now
    words[route + ROUTE_UNTIL] = until
    words[route + ROUTE_NEXT] = words[flow + FLOW_ROUTE]!
    words[flow + FLOW_ROUTE] = route
    words[route + ROUTE_STATE] = kind
    if (this.isPooled(route)) this.waiting.push(route)
    return route
  }

  /** A waiting route goes on waiting, as another kind and until another time. */
  renew(route: number, kind: number, until: number): void {
    const { words } = this
    words[route + ROUTE_STATE] = (words[route + ROUTE_STATE]! & ~ROUTE_KIND) | kind
    words[route + ROUTE_UNTIL] = until
    if (!this.isPooled(route)) return
    this.waiting.remove(route)
    this.waiting.push(route)
  }

  /** A waiting route is live from now on, and the incumbent unless another live one is. */
  makeLive(route: number): void {
    const { words } = this
    if (this.isPooled(route)) this.waiting.remove(route)
    let flag = ROUTE_IS_INCUMBENT
    const flow = words[route + ROUTE_FLOW]!
    for (let other = this.first(flow); other !== 0; other = this.next(other)) {
      if (this.isIncumbent(other)) flag = 0
    }
    words[route + ROUTE_STATE] = (words[route + ROUTE_STATE]! & ~ROUTE_KIND) | ROUTE_LIVE | flag
  }

  /** Whether it is the live route that became so first: the one whose place in the recovery store no other takes. */
  isIncumbent(route: number): boolean {
    return (this.words[route + ROUTE_STATE]! & ROUTE_IS_INCUMBENT) !== 0
  }

  /** Ends a route and lets go of all that it holds. */
  end(now: number, route: number): void {
    const { words } = this
    const flow = words[route + ROUTE_FLOW]!
    const state = words[route + ROUTE_STATE]!
    let link = flow + FLOW_ROUTE
    while (words[link] !== route) link = words[link]! + ROUTE_NEXT
    words[link] = words[route + ROUTE_NEXT]!
    if (this.isPooled(route) && (state & ROUTE_KIND) !== ROUTE_LIVE) this.waiting.remove(route)
    words[route + ROUTE_STATE] = 0
    for (let i = 0; i < UFRAGS_PER_ROUTE; i++) this.#detach(now, route, i)
    this.upstreams.release(words[route + ROUTE_UPSTREAM]!)
    if ((state & ROUTE_IS_INCUMBENT) !== 0) this.#succession(flow)
    if (this.isPooled(route)) this.pool.give(route)
  }

  /** Ends all of a flow's routes. */
  endAll(now: number, flow: number): void {
    for (let route = this.first(flow); route !== 0; route = this.first(flow)) this.end(now, route)
  }

  /** Ends waiting routes in the pool whose time is up, at most `limit`. */
  sweep(now: number, limit: number): void {
    for (let n = 0; n < limit; n++) {
      const { oldest } = this.waiting
      if (oldest === 0 || ((this.words[oldest + ROUTE_UNTIL]! - now) | 0) > 0) return
      this.end(now, oldest)
    }
  }

  /** Ends the oldest waiting route of the pool, to make room; false when there is none. */
  evict(now: number): boolean {
    const { oldest } = this.waiting
    if (oldest !== 0) this.end(now, oldest)
    return oldest !== 0
  }

  /** The route is known by this ufrag from now on; a third one pushes out the older of two. */
  attach(now: number, route: number, ufrag: number): void {
    const { words } = this
    const count = this.ufragCount(route)
    const place = count < UFRAGS_PER_ROUTE ? count : 1 - this.latest(route)
    this.#detach(now, route, place)
    this.setLatest(route, place)
    words[route + ROUTE_UFRAG + place] = ufrag
    this.ufrags.hold(ufrag, route + place)
  }

  /** How many ufrags it is known by. */
  ufragCount(route: number): number {
    if (this.words[route + ROUTE_UFRAG] === 0) return 0
    return this.words[route + ROUTE_UFRAG + 1] === 0 ? 1 : 2
  }

  /** Which of its ufrags made the last request. */
  latest(route: number): number {
    return (this.words[route + ROUTE_STATE]! & ROUTE_IS_SECOND) === 0 ? 0 : 1
  }

  setLatest(route: number, place: number): void {
    const state = this.words[route + ROUTE_STATE]!
    this.words[route + ROUTE_STATE] = place === 0 ? state & ~ROUTE_IS_SECOND : state | ROUTE_IS_SECOND
  }

  /** One of its ufrags, 0 when there is none in that place. */
  ufrag(route: number, place: number): number {
    return this.words[route + ROUTE_UFRAG + place]!
  }

  /** Puts its session's two words there. */
  setSession(route: number, first: number, second: number): void {
    this.words[route + ROUTE_SESSION] = first
    this.words[route + ROUTE_SESSION + 1] = second
  }

  /** Whether its place is one of the pool's. */
  isPooled(route: number): boolean {
    return route >= this.pool.region.start
  }

  /** A free place: the flow's own, one of the pool's, or that of the pool's oldest route that waits. */
  #place(now: number, flow: number): number {
    const home = flow + FLOW_HOME
    if (this.words[home + ROUTE_STATE] === 0) return home
    return this.pool.take() || (this.evict(now) ? this.pool.take() : 0)
  }

  #detach(now: number, route: number, place: number): void {
    const ufrag = this.ufrag(route, place)
    if (ufrag === 0) return
    this.words[route + ROUTE_UFRAG + place] = 0
    this.ufrags.release(now, ufrag, route + place)
  }

  /** The incumbent has ended: another live route, of which there is one at most, takes its place. */
  #succession(flow: number): void {
    for (let route = this.first(flow); route !== 0; route = this.next(route)) {
      if (this.kind(route) === ROUTE_LIVE) this.words[route + ROUTE_STATE]! |= ROUTE_IS_INCUMBENT
    }
  }
}
