/**
 * What SRTP remembers of each SSRC: its replay window and highest index. Pure.
 *
 * Promise: at most 16 streams, and only an authentic packet makes one; none is ever forgotten, because its
 * packets could be replayed afterwards.
 */

import { ReplayWindow } from './replay-window.ts'

/** How many SSRCs one direction may have. */
export const MAX_STREAMS = 16

/** Streams by SSRC (a signed 32-bit integer). */
export class SrtpStreams {
  readonly #windows = new Map<number, ReplayWindow>()
  #lastSsrc = 0
  #last: ReplayWindow | undefined

  /** The highest index of a stream, -1 for an unknown one. */
  highest(ssrc: number): number {
    return this.#find(ssrc)?.highest ?? -1
  }

  /** Whether a packet with this index may be accepted: not seen, not too old, and room for its stream. */
  isFresh(ssrc: number, index: number): boolean {
    const window = this.#find(ssrc)
    return window ? window.isFresh(index) : this.#windows.size < MAX_STREAMS
  }

  /** Remembers an authentic packet that was fresh; true if it is the newest of its stream. */
  accept(ssrc: number, index: number): boolean {
    let window = this.#find(ssrc)
    if (!window) {
      window = new ReplayWindow()
      this.#windows.set(ssrc, window)
    }
    const newest = index > window.highest
    window.accept(index)
    return newest
  }

  #find(ssrc: number): ReplayWindow | undefined {
    if (this.#last && this.#lastSsrc === ssrc) return this.#last
    const window = this.#windows.get(ssrc)
    if (window) {
      this.#last = window
      this.#lastSsrc = ssrc
    }
    return window
  }
}
