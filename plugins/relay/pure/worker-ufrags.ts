/**
 * The ufrags of one worker as another reads them, while they change. What a ufrag may use up, it may in the relay as a
 * whole: where a worker would let in a new client or spend an unconfirmed packet, it adds what the others have of that
 * ufrag to its own.
 *
 * They read each other's memories, instead of all writing to a table of what they share: so each memory has one writer,
 * without a lock or an atomic operation; there is no second truth that a worker could die in the middle of, that would
 * have to be repaired, and that could be full; and a worker that is alone does nothing of all this. What is read may be
 * of two minds. So it is only ever read, every reference is looked at before it is followed, and each walk ends after
 * so many steps. What stands still is read as it is; workers that decide in the same instant do not see each other, and
 * a bound may be passed by one for each of them.
 */

import type { Address } from '../../../core/index.ts'
import type { ClientCensus } from './client-census.ts'
import { HashIndex } from './hash-index.ts'
import { Pool } from './pool.ts'
import {
  FLOW_HOME,
  FLOW_NEXT,
  HEADER_FLOW_POOL,
  HEADER_ROUTE_POOL,
  HEADER_UFRAG_POOL,
  ROUTE_FLOW,
  ROUTE_NEXT,
  ROUTE_UFRAG,
  ROUTE_WORDS,
  UFRAG_DIGEST,
  UFRAG_HOLDER,
  UFRAG_IS_HELD,
  UFRAG_NEXT,
  UFRAG_SPENT,
  UFRAG_STATE,
  UFRAG_WINDOW_AT,
} from './records.ts'
import type { RelayMemory } from './relay-memory.ts'
import { holderLink } from './ufrag-holders.ts'

/** No chain of an index is that long by chance: there are as many buckets as ufrags. */
const MAX_CHAIN = 64

/** Eight clients at 32 of our sockets each. */
const MAX_HOLDERS = 256

/** One worker's ufrags, to read. */
export class WorkerUfrags {
  readonly #words: Int32Array
  readonly #index: HashIndex
  readonly #ufrags: Pool
  readonly #routes: Pool
  readonly #flows: Pool

  constructor({ words, layout }: RelayMemory) {
    this.#words = words
    this.#index = new HashIndex(words, layout.ufragBuckets, UFRAG_NEXT)
    this.#ufrags = new Pool(words, HEADER_UFRAG_POOL, layout.ufrags, UFRAG_NEXT)
    this.#routes = new Pool(words, HEADER_ROUTE_POOL, layout.routes, ROUTE_NEXT)
    this.#flows = new Pool(words, HEADER_FLOW_POOL, layout.flows, FLOW_NEXT)
  }

  /** The entry of the ufrag that `words[ufrag]` is the entry of, in a memory of the same seed; 0 when there is none. */
  find(words: Int32Array, ufrag: number): number {
    let at = this.#index.first(words[ufrag + UFRAG_DIGEST]!)
    for (let n = 0; n < MAX_CHAIN && this.#ufrags.has(at); n++) {
      if (this.#is(at, words, ufrag)) return at
      at = this.#words[at + UFRAG_NEXT]!
    }
    return 0
  }

  /** Unconfirmed packets spent in the second that began at `windowAt`. */
  spent(at: number): number {
    return (this.#words[at + UFRAG_STATE]! >>> UFRAG_SPENT) & 0xff
  }

  windowAt(at: number): number {
    return this.#words[at + UFRAG_WINDOW_AT]!
  }

  /** Counts the clients that use it, for `client`. */
  countClients(at: number, client: Address, census: ClientCensus): void {
    const words = this.#words
    if ((words[at + UFRAG_STATE]! & UFRAG_IS_HELD) === 0) return
    let holder = words[at + UFRAG_HOLDER]!
    let left = MAX_HOLDERS
    for (; left > 0 && this.#isHolder(holder, at); left--) {
      const flow = words[routeOf(holder) + ROUTE_FLOW]!
      if (!this.#flows.has(flow)) return
      census.count(words, flow, client)
      holder = words[holderLink(holder)]!
    }
    if (left === 0) census.fill()
  }

  #is(at: number, words: Int32Array, ufrag: number): boolean {
    for (let i = UFRAG_DIGEST; i < UFRAG_DIGEST + 4; i++) {
      if (this.#words[at + i] !== words[ufrag + i]) return false
    }
    return true
  }

  /** Whether it is one of the two places of a route, and that ufrag is there. */
  #isHolder(holder: number, ufrag: number): boolean {
    const route = routeOf(holder)
    if (!this.#routes.has(route) && !this.#flows.has(route - FLOW_HOME)) return false
    return this.#words[route + ROUTE_UFRAG + (holder & 1)] === ufrag
  }
}

function routeOf(holder: number): number {
  return holder & ~(ROUTE_WORDS - 1)
}
