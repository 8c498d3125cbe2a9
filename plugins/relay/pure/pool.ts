/** Records of one kind in a relay's memory: taken and given back, never moved. */

import type { Region } from './relay-memory.ts'

/** The free records of a region. */
export class Pool {
  readonly region: Region
  readonly #words: Int32Array
  // The first free record, and how many records have ever been taken: those behind are free and untouched.
  readonly #free: number
  readonly #taken: number
  readonly #next: number

  /** `header` is where the pool's two words are, `next` the field that links free records. */
  constructor(words: Int32Array, header: number, region: Region, next: number) {
    this.#words = words
    this.#free = header
    this.#taken = header + 1
    this.region = region
    this.#next = next
  }

  /** How many records have ever been taken: records at or behind this number were never written to. */
  get taken(): number {
    return this.#words[this.#taken]!
  }

  /** A record with whatever was in it, or 0 when all are taken. */
  take(): number {
    const words = this.#words
    const free = words[this.#free]!
    if (free !== 0) {
      words[this.#free] = words[free + this.#next]!
      return free
    }
    const taken = words[this.#taken]!
    if (taken >= this.region.count) return 0
    words[this.#taken] = taken + 1
    return this.region.start + taken * this.region.stride
  }

  /** Gives one back. */
  give(record: number): void {
    this.#words[record + this.#next] = this.#words[this.#free]!
    this.#words[this.#free] = record
  }

  /** The record of a number, from 0. */
  at(number: number): number {
    return this.region.start + number * this.region.stride
  }

  /** Whether it is a record of this region at all: what another thread reads may be of two minds. */
  has(record: number): boolean {
    const offset = record - this.region.start
    return offset >= 0 && offset < this.region.count * this.region.stride && offset % this.region.stride === 0
  }

  /** Forgets which are free; records are given back one by one afterwards. */
  forget(): void {
    this.#words[this.#free] = 0
  }
}
