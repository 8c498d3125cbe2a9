/**
 * How many ufrags may be decoded: so many a second in all, and so many for the clients of one /24 (IPv4) or /48
 * (IPv6), so that a flood from one network does not starve the others. Time is an input; nothing is allocated.
 */

import type { Address } from '../../../core/index.ts'
import { DECODES_PER_PREFIX, DECODES_PER_SECOND } from './limits.ts'
import { HEADER_BUDGET_AT, HEADER_BUDGET_SPENT } from './records.ts'
import { BUDGET_SLOTS, type RelayMemory } from './relay-memory.ts'

/** The budget of one worker. */
export class DecodeBudget {
  readonly #seed: number
  readonly #words: Int32Array
  // Prefixes that share a slot share its budget; which ones do, nobody outside can tell.
  readonly #spent: Uint16Array

  constructor(memory: RelayMemory) {
    this.#seed = memory.secret(3)
    this.#words = memory.words
    this.#spent = new Uint16Array(
      memory.words.buffer,
      memory.words.byteOffset + memory.layout.budget * 4,
      BUDGET_SLOTS,
    )
  }

  /** Spends one decode for `client`; false when this second's are spent. */
  spend(now: number, client: Address): boolean {
    const words = this.#words
    if (words[HEADER_BUDGET_SPENT] === 0 || (now - words[HEADER_BUDGET_AT]!) >>> 0 >= 1_000) {
      words[HEADER_BUDGET_AT] = now
      words[HEADER_BUDGET_SPENT] = 0
      this.#spent.fill(0)
    }
    if (words[HEADER_BUDGET_SPENT]! >= DECODES_PER_SECOND) return false
    const slot = this.#slot(client)
    if (this.#spent[slot]! >= DECODES_PER_PREFIX) return false
    this.#spent[slot]!++
    words[HEADER_BUDGET_SPENT]!++
    return true
  }

  #slot(a: Address): number {
    const high = a.isIPv4 ? a.w3 >>> 8 : a.w0
    const low = a.isIPv4 ? 0 : (a.w1 >>> 16) + 1
    let h = Math.imul(this.#seed ^ high, 0x9e3779b1)
    h = Math.imul(h ^ (h >>> 15) ^ low, 0x85ebca6b)
    return (h ^ (h >>> 13)) & (BUDGET_SLOTS - 1)
  }
}
