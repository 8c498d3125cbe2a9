/**
 * How many ufrags may be decoded: so many a second in all, and so many for the clients of one /24 (IPv4) or /48
 * (IPv6), so that a flood from one network does not starve the others. Time is an input; nothing is allocated.
 */

import type { Address } from '../../../core/index.ts'
import { DECODES_PER_PREFIX, DECODES_PER_SECOND } from './limits.ts'

const SLOTS = 4_096

/** The budget of one worker. */
export class DecodeBudget {
  readonly #seed: number
  // Prefixes that share a slot share its budget; which ones do, nobody outside can tell.
  readonly #spent = new Uint16Array(SLOTS)
  #second = -1
  #total = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  /** Spends one decode for `client`; false when this second's are spent. */
  spend(now: number, client: Address): boolean {
    const second = Math.floor(now / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#total = 0
      this.#spent.fill(0)
    }
    if (this.#total >= DECODES_PER_SECOND) return false
    const slot = this.#slot(client)
    if (this.#spent[slot]! >= DECODES_PER_PREFIX) return false
    this.#spent[slot]!++
    this.#total++
    return true
  }

  #slot(a: Address): number {
    const high = a.isIPv4 ? a.w3 >>> 8 : a.w0
    const low = a.isIPv4 ? 0 : (a.w1 >>> 16) + 1
    let h = Math.imul(this.#seed ^ high, 0x9e3779b1)
    h = Math.imul(h ^ (h >>> 15) ^ low, 0x85ebca6b)
    return (h ^ (h >>> 13)) & (SLOTS - 1)
  }
}
