/**
 * How long a missing packet is worth waiting for, from how late others came that were out of order. A machine listens:
 * it needs order and completeness, but no constant delay, so nothing waits for the sake of jitter. Only a hole in the
 * sequence numbers does, and where packets never come late, it is loss at once, or nearly. Pure: time is an input.
 */

/** The wait's bounds, and what it is until packets have been seen out of order. */
export const LEAST_WAIT_MS = 20
export const FIRST_WAIT_MS = 60
export const MOST_WAIT_MS = 120
/** A late packet counts half after so long. */
const HALF_LIFE_MS = 10_000
/** The wait for a packet that comes as late as the latest: some more than that. */
const MORE = 1.25
const MORE_MS = 10

/** Measures one caller. A source that takes another's place comes over the same network. */
export class ReorderWait {
  #lateMs = (FIRST_WAIT_MS - MORE_MS) / MORE
  #at = -1

  /** The first packet comes: from now on, none being late counts. Idempotent. */
  begin(now: number): void {
    if (this.#at < 0) this.#at = now
  }

  /** How long to wait now. */
  ms(now: number): number {
    return Math.min(MOST_WAIT_MS, Math.max(LEAST_WAIT_MS, this.#lateness(now) * MORE + MORE_MS))
  }

  /** A packet came `lateMs` after it was found missing, in time or not. */
  came(now: number, lateMs: number): void {
    this.#lateMs = Math.max(Math.min(lateMs, MOST_WAIT_MS), this.#lateness(now))
    this.#at = now
  }

  #lateness(now: number): number {
    return this.#lateMs * 2 ** ((this.#at - now) / HALF_LIFE_MS)
  }
}
