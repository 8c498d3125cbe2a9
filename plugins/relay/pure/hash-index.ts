/** A hash index in a relay's memory: buckets of records that are chained by one of their fields. */

import type { Buckets } from './relay-memory.ts'

/** The chains. */
export class HashIndex {
  readonly #words: Int32Array
  readonly #start: number
  readonly #mask: number
  readonly #next: number

  constructor(words: Int32Array, { start, mask }: Buckets, next: number) {
    this.#words = words
    this.#start = start
    this.#mask = mask
    this.#next = next
  }

  /** The first record of a hash's chain, 0 when it is empty. */
  first(hash: number): number {
    return this.#words[this.#start + (hash & this.#mask)]!
  }

  /** Puts a record in front of its chain. */
  add(hash: number, record: number): void {
    const bucket = this.#start + (hash & this.#mask)
    this.#words[record + this.#next] = this.#words[bucket]!
    this.#words[bucket] = record
  }

  /** Takes a record that is there out of its chain. */
  remove(hash: number, record: number): void {
    const words = this.#words
    let link = this.#start + (hash & this.#mask)
    while (words[link] !== record) link = words[link]! + this.#next
    words[link] = words[record + this.#next]!
  }

  /** Is empty from now on; the records are not touched. */
  clear(): void {
    this.#words.fill(0, this.#start, this.#start + this.#mask + 1)
  }
}
