/**
 * The audio clock's time on the page's clock. The two run apart by what nobody knows, and what is told of one comes late
 * to the other; but never early, so the smallest difference is the nearest to the truth. Pure.
 */

/** The audio clock may stand still while the machine is too busy: what was smallest counts for less and less. */
const RISES_PER_MS = 0.01

/** One audio clock. */
export class AudioClock {
  #offset
  #heardAt

  /** The page's time for the audio clock's `atMs`, of which the page hears at `now`. */
  toPage(atMs, now) {
    const known =
      this.#offset === undefined ? now - atMs : this.#offset + (now - this.#heardAt) * RISES_PER_MS
    this.#offset = Math.min(known, now - atMs)
    this.#heardAt = now
    return atMs + this.#offset
  }
}
