/**
 * Which packet indexes have been seen (RFC 3711 §3.3.2): a ring of bits below the highest one. Pure.
 *
 * Promise: an index that was accepted, or that is older than the window, is never fresh again.
 */

const WORDS = 8
/** How far below the highest index a packet may still come: one word of the ring is always being cleared. */
export const REPLAY_WINDOW = (WORDS - 1) * 32

/** Indexes are integers from 0 to 2^48 - 1. */
export class ReplayWindow {
  /** The highest index accepted, -1 for none. */
  highest = -1
  readonly #seen = new Uint32Array(WORDS)

  /** Whether `index` may be accepted. */
  isFresh(index: number): boolean {
    if (index > this.highest) return true
    if (this.highest - index >= REPLAY_WINDOW) return false
    return (this.#seen[(index >>> 5) & (WORDS - 1)]! & (1 << (index & 31))) === 0
  }

  /** Remembers an index that `isFresh` and is authentic. */
  accept(index: number): void {
    if (index > this.highest) {
      const from = Math.floor(this.highest / 32)
      const words = Math.min(Math.floor(index / 32) - from, WORDS)
      for (let i = 1; i <= words; i++) this.#seen[(from + i) & (WORDS - 1)] = 0
      this.highest = index
    }
    this.#seen[(index >>> 5) & (WORDS - 1)]! |= 1 << (index & 31)
  }
}
