/**
 * How much must be queued before a talkspurt begins, learnt from how late the bridge's frames come. A bridge that is
 * ahead of real time needs none; one that is late once gets as much more as it was late by, and gives it back slowly,
 * a slot at a time, while it never needs the last of it. Pure.
 */

import { SLOT_MS } from './pacer.ts'

/** The most there is. */
export const MOST_CUSHION_MS = 60
/** What a frame may be late by without anybody hearing it: receivers have a jitter buffer. */
export const LATE_MS = 5
/** Frames this late or later come after a pause, which no cushion is to hide. */
const PAUSE_MS = 200
/** How long a slot of the cushion must have been of no use before it goes. */
const CALM_MS = 10_000

/** One call's cushion. */
export class Cushion {
  #ms = 0
  #spareMs = Number.POSITIVE_INFINITY
  #calmMs = 0

  /** Milliseconds, a whole number of slots from 0 to MOST_CUSHION_MS. */
  get ms(): number {
    return this.#ms
  }

  /** A frame came so long after all that was before it had sounded. */
  late(ms: number): void {
    if (ms <= LATE_MS || ms >= PAUSE_MS) return
    this.#ms = Math.min(MOST_CUSHION_MS, this.#ms + Math.ceil(ms / SLOT_MS) * SLOT_MS)
    this.#watchAnew()
  }

  /** A frame of so many milliseconds came when it could have come later by `spareMs`. */
  inTime(spareMs: number, durationMs: number): void {
    if (this.#ms === 0) return
    if (spareMs < this.#spareMs) this.#spareMs = spareMs
    this.#calmMs += durationMs
    if (this.#calmMs < CALM_MS) return
    if (this.#spareMs >= SLOT_MS - LATE_MS) this.#ms -= SLOT_MS
    this.#watchAnew()
  }

  #watchAnew(): void {
    this.#spareMs = Number.POSITIVE_INFINITY
    this.#calmMs = 0
  }
}
