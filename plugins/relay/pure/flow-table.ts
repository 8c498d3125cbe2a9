/**
 * The bounded table of flows. Unconfirmed flows end by age and make room when the table is full, oldest first;
 * confirmed ones end only for want of success responses. Finding, opening and ending one takes the same time whatever
 * the table holds. Time is an input.
 */

import type { Address } from '../../../core/index.ts'
import { FlowView } from './flow-view.ts'
import { HashIndex } from './hash-index.ts'
import { CONFIRMED_MS, UNCONFIRMED_MS } from './limits.ts'
import { Pool } from './pool.ts'
import { RecordList } from './record-list.ts'
import {
  FLOW_BYTES_DOWN,
  FLOW_BYTES_HIGH,
  FLOW_BYTES_UP,
  FLOW_CONFIRMED,
  FLOW_HOME,
  FLOW_KEY,
  FLOW_NEWER,
  FLOW_NEXT,
  FLOW_OLDER,
  FLOW_OPENED,
  FLOW_PACKETS_DOWN,
  FLOW_PACKETS_UP,
  FLOW_STATE,
  FLOW_UNCONFIRMED,
  FLOW_UNTIL,
  FLOW_W0,
  FLOW_W1,
  FLOW_W2,
  FLOW_W3,
  HEADER_CONFIRMED,
  HEADER_FLOW_POOL,
  HEADER_IS_CHANGING,
  HEADER_UNCONFIRMED,
} from './records.ts'
import type { RelayCounters } from './relay-counters.ts'
import type { RelayMemory } from './relay-memory.ts'
import type { RouteTable } from './route-table.ts'
import { isClient } from './ufrag-holders.ts'

/** How to make a table. */
export interface FlowTableOptions {
  readonly counters: RelayCounters
  /** Called for each flow that ended, before its routes do; the view is used again. */
  readonly onEnd: ((flow: FlowView, reference: number) => void) | undefined
}

/** Flows by (local socket, client). */
export class FlowTable {
  readonly pool: Pool
  readonly index: HashIndex
  // Each list is in the order in which its flows expire.
  readonly unconfirmedList: RecordList
  readonly confirmedList: RecordList
  readonly words: Int32Array
  readonly #routes: RouteTable
  readonly #counters: RelayCounters
  readonly #onEnd: FlowTableOptions['onEnd']
  readonly #seed: number
  readonly #ending: FlowView

  constructor(memory: RelayMemory, routes: RouteTable, { counters, onEnd }: FlowTableOptions) {
    const { words, layout } = memory
    this.words = words
    this.#routes = routes
    this.#counters = counters
    this.#onEnd = onEnd
    this.#seed = memory.secret(1)
    this.#ending = new FlowView()
    this.pool = new Pool(words, HEADER_FLOW_POOL, layout.flows, FLOW_NEXT)
    this.index = new HashIndex(words, layout.flowBuckets, FLOW_NEXT)
    this.unconfirmedList = new RecordList(words, HEADER_UNCONFIRMED, FLOW_OLDER, FLOW_NEWER)
    this.confirmedList = new RecordList(words, HEADER_CONFIRMED, FLOW_OLDER, FLOW_NEWER)
  }

  get confirmed(): number {
    return this.confirmedList.size
  }

  get unconfirmed(): number {
    return this.unconfirmedList.size
  }

  /** Unconfirmed flows pushed out of a full table. */
  get evicted(): number {
    return this.#counters.evictions
  }

  /** The flow of a client at a socket, or 0; one whose time is up ends here. */
  find(now: number, local: number, client: Address): number {
    const { words } = this
    const key = local << 2
    let flow = this.index.first(client.hash(this.#seed ^ local))
    while (flow !== 0) {
      if (isClient(words, flow, client) && (words[flow + FLOW_KEY]! & 0xfffc) === key) break
      flow = words[flow + FLOW_NEXT]!
    }
    if (flow === 0 || ((words[flow + FLOW_UNTIL]! - now) | 0) > 0) return flow
    this.end(now, flow)
    return 0
  }

  /**
   * Opens an unconfirmed flow for a client that has none. 0 when the table is full of confirmed flows or, with `evict`
   * false, full at all.
   */
  open(now: number, local: number, client: Address, evict: boolean): number {
    const { words } = this
    words[HEADER_IS_CHANGING] = 1
    let flow = this.pool.take()
    if (flow === 0) {
      if (!this.#makeRoom(now, evict)) return 0
      flow = this.pool.take()
    }
    words.fill(0, flow, flow + FLOW_HOME)
    words[flow + FLOW_W0] = client.w0
    words[flow + FLOW_W1] = client.w1
    words[flow + FLOW_W2] = client.w2
    words[flow + FLOW_W3] = client.w3
    words[flow + FLOW_OPENED] = now
    words[flow + FLOW_UNTIL] = now + UNCONFIRMED_MS
    words[flow + FLOW_KEY] = (client.port << 16) | (local << 2) | FLOW_UNCONFIRMED
    this.index.add(client.hash(this.#seed ^ local), flow)
    this.unconfirmedList.push(flow)
    return flow
  }

  /** A success response came through: the flow is confirmed and lives on from now. */
  confirm(now: number, flow: number): void {
    const { words } = this
    const key = words[flow + FLOW_KEY]!
    this.#listOf(key).remove(flow)
    words[flow + FLOW_KEY] = (key & ~FLOW_STATE) | FLOW_CONFIRMED
    words[flow + FLOW_UNTIL] = now + CONFIRMED_MS
    this.confirmedList.push(flow)
  }

  /** Takes a flow out. */
  end(now: number, flow: number): void {
    const { words } = this
    words[HEADER_IS_CHANGING] = 1
    this.#onEnd?.(this.#ending.read(this.#routes, flow), flow)
    this.#listOf(words[flow + FLOW_KEY]!).remove(flow)
    this.index.remove(this.hashOf(flow), flow)
    this.#routes.endAll(now, flow)
    words[flow + FLOW_KEY] = 0
    this.pool.give(flow)
  }

  /** Ends flows, routes and ufrags whose time is up, at most `limit` of each, so that no call to it takes long. */
  sweep(now: number, limit: number): void {
    this.words[HEADER_IS_CHANGING] = 1
    const left = this.#sweepList(now, this.unconfirmedList, limit)
    this.#sweepList(now, this.confirmedList, left)
    this.#routes.sweep(now, limit)
    this.#routes.ufrags.sweep(now, limit)
    this.words[HEADER_IS_CHANGING] = 0
  }

  /** Ends the oldest unconfirmed flow, to make room; false when there is none. */
  evict(now: number): boolean {
    const oldest = this.unconfirmedList.oldest
    if (oldest === 0) return false
    this.#counters.evicted()
    this.end(now, oldest)
    return true
  }

  /**
   * Up to `limit` flows from number `from` on, and the number to go on from, or undefined at the end. What it shows is
   * a copy. Any thread may ask: what changes meanwhile may be shown half old, half new.
   */
  page(from: number, limit: number): { flows: FlowView[]; next: number | undefined } {
    const flows: FlowView[] = []
    const taken = Math.min(this.pool.taken, this.pool.region.count)
    let at = Math.max(0, from)
    for (; at < taken && flows.length < limit; at++) {
      const flow = this.pool.at(at)
      if ((this.words[flow + FLOW_KEY]! & FLOW_STATE) !== 0) flows.push(this.view(flow))
    }
    return { flows, next: at < taken ? at : undefined }
  }

  /** A copy of a flow to look at. */
  view(flow: number): FlowView {
    return new FlowView().read(this.#routes, flow)
  }

  /** A datagram of so many bytes went to the flow's transceivers. */
  countUp(flow: number, bytes: number): void {
    this.words[flow + FLOW_PACKETS_UP]!++
    this.#countBytes(flow, FLOW_BYTES_UP, bytes, 0x1_0000)
  }

  /** A payload of so many bytes went to its client. */
  countDown(flow: number, bytes: number): void {
    this.words[flow + FLOW_PACKETS_DOWN]!++
    this.#countBytes(flow, FLOW_BYTES_DOWN, bytes, 1)
  }

  /** A flow's hash in the index. */
  hashOf(flow: number): number {
    const { client, local } = this.#ending.readKey(this.words, flow)
    return client.hash(this.#seed ^ local)
  }

  #countBytes(flow: number, field: number, bytes: number, carry: number): void {
    const { words } = this
    const sum = (words[flow + field]! >>> 0) + bytes
    words[flow + field] = sum
    if (sum > 0xffff_ffff) words[flow + FLOW_BYTES_HIGH]! += carry
  }

  #listOf(key: number): RecordList {
    return (key & FLOW_STATE) === FLOW_CONFIRMED ? this.confirmedList : this.unconfirmedList
  }

  #makeRoom(now: number, evict: boolean): boolean {
    if (this.#sweepList(now, this.unconfirmedList, 1) === 0) return true
    if (this.#sweepList(now, this.confirmedList, 1) === 0) return true
    return evict && this.evict(now)
  }

  /** Ends flows of a list whose time is up, and returns how many of `limit` are left. */
  #sweepList(now: number, list: RecordList, limit: number): number {
    let left = limit
    for (; left > 0; left--) {
      const oldest = list.oldest
      if (oldest === 0 || ((this.words[oldest + FLOW_UNTIL]! - now) | 0) > 0) break
      this.end(now, oldest)
    }
    return left
  }
}
