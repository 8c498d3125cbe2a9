/**
 * How many places of the hop table each relay has. A relay is known by its ip, of IPv6 by the /64: it sends from many
 * ports, and says itself what its clients send to. Without a share it could fill the table, and push out the pairs of
 * all others, with a datagram for each.
 */

import type { Address } from '../../../core/index.ts'

/** Places of one relay: 64 ports for each of 16 addresses that clients send to. */
export const HOP_SHARE = 1_024

/** Relays that fall together have one share. */
const SLOTS = 4_096

/** What each has. */
export class HopShares {
  readonly #counts = new Uint16Array(SLOTS)

  /** Nobody has any. */
  clear(): void {
    this.#counts.fill(0)
  }

  /** A relay has a place more. */
  take(relay: Address): void {
    this.#counts[slotOf(relay)]!++
  }

  /** A relay has a place less. */
  give(relay: Address): void {
    this.#counts[slotOf(relay)]!--
  }

  /** Whether a relay has all that it may have. */
  isUsedUp(relay: Address): boolean {
    return this.#counts[slotOf(relay)]! >= HOP_SHARE
  }

  /** Whether two have one share. */
  isOne(relay: Address, other: Address): boolean {
    return slotOf(relay) === slotOf(other)
  }
}

function slotOf(relay: Address): number {
  const [high, low] = relay.isIPv4 ? [0, relay.w3] : [relay.w0, relay.w1]
  const h = Math.imul(Math.imul(high, 0x9e3779b1) ^ low, 0x85ebca6b)
  return (h ^ (h >>> 15)) & (SLOTS - 1)
}
