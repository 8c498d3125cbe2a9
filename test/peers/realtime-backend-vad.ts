/** A voice activity detector by loudness: enough to tell a whistle from silence, and exact to the 20 ms. Pure. */

const WINDOW_MS = 20
const WINDOW_BYTES = (24_000 / 1000) * WINDOW_MS * 2
/** Samples at least so loud are speech. */
const LOUD = 1500

/** When speech began or ended, in milliseconds of all audio that came. */
export type VadEvent =
  | { readonly type: 'started'; readonly atMs: number }
  | { readonly type: 'stopped'; readonly atMs: number }

/** How long it must be loud, and how long quiet, in milliseconds. */
export interface VadOptions {
  readonly speechMs: number
  readonly silenceMs: number
}

/** Listens to PCM16 at 24 kHz. */
export class LoudnessVad {
  /** Milliseconds that came. */
  heardMs = 0
  #rest = Buffer.alloc(0)
  #speaking = false
  #loudMs = 0
  #quietMs = 0

  /** Takes samples; gives what they began or ended. */
  push(pcm: Buffer, { speechMs, silenceMs }: VadOptions): VadEvent[] {
    const all = Buffer.concat([this.#rest, pcm])
    const events: VadEvent[] = []
    let at = 0
    for (; at + WINDOW_BYTES <= all.length; at += WINDOW_BYTES) {
      this.heardMs += WINDOW_MS
      const loud = isLoud(all, at)
      this.#loudMs = loud ? this.#loudMs + WINDOW_MS : 0
      this.#quietMs = loud ? 0 : this.#quietMs + WINDOW_MS
      if (!this.#speaking && this.#loudMs >= speechMs) {
        this.#speaking = true
        events.push({ type: 'started', atMs: this.heardMs - this.#loudMs })
      } else if (this.#speaking && this.#quietMs >= silenceMs) {
        this.#speaking = false
        events.push({ type: 'stopped', atMs: this.heardMs })
      }
    }
    this.#rest = all.subarray(at)
    return events
  }

  /** Forgets that anybody is speaking. */
  reset(): void {
    this.#speaking = false
    this.#loudMs = this.#quietMs = 0
  }
}

function isLoud(pcm: Buffer, start: number): boolean {
  for (let at = start; at < start + WINDOW_BYTES; at += 8)
    if (Math.abs(pcm.readInt16LE(at)) >= LOUD) return true
  return false
}
