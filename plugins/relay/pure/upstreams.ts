/** The transceivers that routes and ufrags lead to, each once, counted by who leads there. */

import { Address } from '../../../core/index.ts'
import { HashIndex } from './hash-index.ts'
import { Pool } from './pool.ts'
import {
  HEADER_UPSTREAM_POOL,
  UPSTREAM_CLUSTER,
  UPSTREAM_NEXT,
  UPSTREAM_PORT,
  UPSTREAM_REFERENCES,
  UPSTREAM_W0,
  UPSTREAM_W1,
  UPSTREAM_W2,
  UPSTREAM_W3,
  UPSTREAM_WORDS,
} from './records.ts'
import type { RelayMemory } from './relay-memory.ts'

/** The addresses of transceivers. */
export class Upstreams {
  readonly pool: Pool
  readonly index: HashIndex
  readonly #words: Int32Array
  readonly #seed: number
  // What datagrams are sent to: made once for a record and kept while it is that of the same address.
  readonly #addresses: (Address | undefined)[] = []
  readonly #scratch = new Address()

  constructor(memory: RelayMemory) {
    this.#words = memory.words
    this.#seed = memory.secret(2)
    this.pool = new Pool(memory.words, HEADER_UPSTREAM_POOL, memory.layout.upstreams, UPSTREAM_NEXT)
    this.index = new HashIndex(memory.words, memory.layout.upstreamBuckets, UPSTREAM_NEXT)
  }

  /**
   * The record of an address, with one reference more, to be given back by `release`; 0 when there is no room. `cluster`
   * is -1 for a transceiver of ours, and else that whose relay it is.
   */
  hold(address: Address, cluster = -1): number {
    const words = this.#words
    const hash = address.hash(this.#seed)
    let at = this.index.first(hash)
    while (at !== 0 && !(this.is(at, address) && this.clusterOf(at) === cluster))
      at = words[at + UPSTREAM_NEXT]!
    if (at === 0) {
      at = this.pool.take()
      if (at === 0) return 0
      words[at + UPSTREAM_W0] = address.w0
      words[at + UPSTREAM_W1] = address.w1
      words[at + UPSTREAM_W2] = address.w2
      words[at + UPSTREAM_W3] = address.w3
      words[at + UPSTREAM_REFERENCES] = 0
      words[at + UPSTREAM_CLUSTER] = cluster + 1
      words[at + UPSTREAM_PORT] = address.port
      this.index.add(hash, at)
    }
    words[at + UPSTREAM_REFERENCES]!++
    return at
  }

  /** One reference more. */
  share(at: number): void {
    this.#words[at + UPSTREAM_REFERENCES]!++
  }

  /** One reference less; without any the record is free. */
  release(at: number): void {
    const references = this.#words[at + UPSTREAM_REFERENCES]! - 1
    this.#words[at + UPSTREAM_REFERENCES] = references
    if (references > 0) return
    this.index.remove(this.hashOf(at), at)
    this.#words[at + UPSTREAM_PORT] = 0
    this.pool.give(at)
  }

  /** The cluster whose relay it is, -1 for a transceiver of ours. */
  clusterOf(at: number): number {
    return this.#words[at + UPSTREAM_CLUSTER]! - 1
  }

  /** Whether the record is that of this address. */
  is(at: number, address: Address): boolean {
    const words = this.#words
    return (
      words[at + UPSTREAM_W3] === address.w3 &&
      words[at + UPSTREAM_PORT] === address.port &&
      words[at + UPSTREAM_W2] === address.w2 &&
      words[at + UPSTREAM_W1] === address.w1 &&
      words[at + UPSTREAM_W0] === address.w0
    )
  }

  /** Its address, not to be changed. */
  addressOf(at: number): Address {
    const number = ((at - this.pool.region.start) / UPSTREAM_WORDS) | 0
    const known = this.#addresses[number]
    if (known !== undefined && this.is(at, known)) return known
    const address = this.read(at, new Address())
    // One after another, so that it stays an array without holes.
    while (this.#addresses.length <= number) this.#addresses.push(undefined)
    this.#addresses[number] = address
    return address
  }

  /** Puts its address into `into`. */
  read(at: number, into: Address): Address {
    const words = this.#words
    return into.set(
      words[at + UPSTREAM_W0]!,
      words[at + UPSTREAM_W1]!,
      words[at + UPSTREAM_W2]!,
      words[at + UPSTREAM_W3]!,
      words[at + UPSTREAM_PORT]!,
    )
  }

  /** Its hash in the index. */
  hashOf(at: number): number {
    return this.read(at, this.#scratch).hash(this.#seed)
  }
}
