/**
 * How many data channel packets one call may bring, and how much its sidebands may say. Each costs far more than a packet
 * of audio, and all calls share a thread: without a bound one client's flood delays everybody's audio by seconds. Time is
 * an input, in milliseconds.
 */

/** Packets a second: 1 MB/s of full ones. */
export const PACKETS_PER_SECOND = 1000
/** Packets at once, after a second of quiet: some messages of the largest size, in full packets. */
export const PACKETS_AT_ONCE = 1000
/** What a full packet carries, in bytes: what came in no packets is counted as if it had. */
export const PACKET_BYTES = 1024

/** A token bucket. */
export class PacketBudget {
  #left = PACKETS_AT_ONCE
  #at = 0

  /** Whether one more packet may pass at `now`. */
  take(now: number): boolean {
    this.#earn(now)
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  /**
   * Counts a message that came whole, whether there is room for it or not. Returns for how long no more should be taken,
   * in milliseconds; 0 while there is room.
   */
  spend(now: number, bytes: number): number {
    this.#earn(now)
    this.#left -= Math.max(1, Math.ceil(bytes / PACKET_BYTES))
    return this.#left >= 1 ? 0 : ((1 - this.#left) * 1000) / PACKETS_PER_SECOND
  }

  #earn(now: number): void {
    const earned = ((now - this.#at) * PACKETS_PER_SECOND) / 1000
    this.#left = Math.min(PACKETS_AT_ONCE, this.#left + earned)
    this.#at = now
  }
}
