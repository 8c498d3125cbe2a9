/**
 * Keeps a caller's time line from running ahead of time: its length is what is decoded, sent to a backend, and paid for.
 * A burst that the network held back passes whole, and a clock that is a little fast goes on for ever. Pure: time is an
 * input.
 */

import { TICKS_PER_MS } from './receive-stats.ts'

/** How far ahead of time a line may run. */
export const MOST_AHEAD_MS = 5000
/** How fast, beyond that. */
export const MOST_PACE = 1.25

/** Measures one caller. */
export class CallerPace {
  #at = -1
  /** In ticks. */
  #left = MOST_AHEAD_MS * TICKS_PER_MS

  /**
   * A packet comes that lasts `ticks` and lies `gap` ticks behind the one before: answers how much of the gap the line
   * may show, or -1 when there is no room even for the packet.
   */
  take(now: number, gap: number, ticks: number): number {
    const earned = this.#at < 0 ? 0 : (now - this.#at) * TICKS_PER_MS * MOST_PACE
    const most = Math.floor(this.#left + earned - ticks)
    this.#at = now
    if (most < 0) {
      this.#left += earned
      return -1
    }
    const shown = Math.min(gap, most)
    this.#left = Math.min(MOST_AHEAD_MS * TICKS_PER_MS, most - shown)
    return shown
  }
}
