/**
 * How many data channel packets one call may bring. Each costs far more than a packet of audio, and all calls share a
 * thread: without a bound one client's flood delays everybody's audio by seconds. Time is an input.
 */

/** Packets a second: 1 MB/s of full ones. */
export const PACKETS_PER_SECOND = 1000
/** Packets at once, after a second of quiet: some messages of the largest size, in full packets. */
export const PACKETS_AT_ONCE = 1000

/** A token bucket. */
export class PacketBudget {
  #left = PACKETS_AT_ONCE
  #at = 0

  /** Whether one more packet may pass at `now`, in milliseconds. */
  take(now: number): boolean {
    const earned = ((now - this.#at) * PACKETS_PER_SECOND) / 1000
    this.#left = Math.min(PACKETS_AT_ONCE, this.#left + earned)
    this.#at = now
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
