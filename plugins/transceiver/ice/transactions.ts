/**
 * The transaction ids of a session's last 256 authenticated requests, each with the client it came from, in memory
 * that grows to 4 KB. It tells a fresh request from a captured one that is sent again. Pure.
 */

import type { Address } from '../../../core/index.ts'

/** How many requests are remembered. */
export const REMEMBERED = 256

/** `elsewhere`: this very request came before, but from another client address. */
export type Freshness = 'fresh' | 'elsewhere' | 'repeated'

const WORDS = 4

/** Room for so many at first: most clients send no more before they ask for consent alone. */
const FIRST = 16

/** The ids of one session. Record only what was authenticated, or strangers empty the memory. */
export class Transactions {
  #words = new Int32Array(FIRST * WORDS)
  #count = 0
  #next = 0

  /** Looks for the 12-byte id at `at`, as sent by `client`. */
  look(bytes: Buffer, at: number, client: Address): Freshness {
    const a = bytes.readInt32BE(at)
    const b = bytes.readInt32BE(at + 4)
    const c = bytes.readInt32BE(at + 8)
    const from = client.hash(0)
    let freshness: Freshness = 'fresh'
    for (let i = 0; i < this.#count * WORDS; i += WORDS) {
      if (this.#words[i] !== a || this.#words[i + 1] !== b || this.#words[i + 2] !== c) continue
      if (this.#words[i + 3] === from) return 'repeated'
      freshness = 'elsewhere'
    }
    return freshness
  }

  /** Remembers it in the place of the oldest. */
  record(bytes: Buffer, at: number, client: Address): void {
    const i = this.#next * WORDS
    if (i === this.#words.length) this.#grow()
    this.#words[i] = bytes.readInt32BE(at)
    this.#words[i + 1] = bytes.readInt32BE(at + 4)
    this.#words[i + 2] = bytes.readInt32BE(at + 8)
    this.#words[i + 3] = client.hash(0)
    this.#next = (this.#next + 1) % REMEMBERED
    if (this.#count < REMEMBERED) this.#count++
  }

  #grow(): void {
    const words = new Int32Array(Math.min(this.#words.length * 2, REMEMBERED * WORDS))
    words.set(this.#words)
    this.#words = words
  }
}
