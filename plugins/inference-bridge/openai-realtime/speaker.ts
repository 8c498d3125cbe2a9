/**
 * The backend's audio on its way to the caller. A backend is faster than speech, and what it says next may be that the
 * caller interrupts: so the connection is read on, and only one that is minutes ahead has to wait.
 */

import type { BackendLink, BridgeCall, Played } from '../../../core/index.ts'

/** How far below the bound the queue is when the backend is read again. */
const SLACK_MS = 10_000
/** How often it is looked, at most and at least. */
const LOOK_MS = { least: 20, most: 1000 }

/** One call's playout, as far as the bridge has a part in it. Close it. */
export class Speaker {
  readonly #call: Pick<BridgeCall, 'play' | 'flush' | 'queuedMs'>
  readonly #link: Pick<BackendLink, 'pause' | 'resume' | 'paused'>
  readonly #rate: number
  readonly #most: number
  readonly #low: number
  readonly #onFault: (cause: unknown) => void
  #timer: NodeJS.Timeout | undefined

  constructor(
    call: Pick<BridgeCall, 'play' | 'flush' | 'queuedMs'>,
    link: Pick<BackendLink, 'pause' | 'resume' | 'paused'>,
    options: { readonly rate: number; readonly maxQueuedMs: number },
    onFault: (cause: unknown) => void,
  ) {
    this.#call = call
    this.#link = link
    this.#rate = options.rate
    this.#most = options.maxQueuedMs
    this.#low = Math.max(options.maxQueuedMs - SLACK_MS, options.maxQueuedMs / 2)
    this.#onFault = onFault
  }

  /** Queues samples. */
  play(data: Uint8Array, tag: string): void {
    const durationMs = (data.length * 500) / this.#rate
    this.#call.play({ data, durationMs }, tag).catch(this.#onFault)
    if (this.#link.paused || this.#call.queuedMs <= this.#most) return
    this.#link.pause()
    this.#look()
  }

  /** Drops what is queued. */
  flush(): Played[] {
    const played = this.#call.flush()
    this.#resume()
    return played
  }

  /** Waits for nothing any more. */
  close(): void {
    clearTimeout(this.#timer)
  }

  #look(): void {
    const over = this.#call.queuedMs - this.#low
    const wait = Math.min(LOOK_MS.most, Math.max(LOOK_MS.least, over))
    if (over <= 0) this.#resume()
    else this.#timer = setTimeout(() => this.#look(), wait)
  }

  #resume(): void {
    if (!this.#link.paused) return
    clearTimeout(this.#timer)
    this.#link.resume()
  }
}
