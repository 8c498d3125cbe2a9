/**
 * What the caller says, as `input_audio_buffer.append` events of 20 to 40 ms. A backend that listens for pauses hears
 * them: where the caller's own stream has a gap, silence goes in its place.
 */

import type { AudioFrame, BridgeCall } from '../../../core/index.ts'

const LEAST_MS = 20
const MOST_MS = 40
/** A longer silence is cut to this: enough for any backend to notice, little to send at once. */
const MOST_SILENCE_MS = 2000

/** Sends a text; resolves when there is room for more. */
export type Send = (text: string) => Promise<void> | undefined

/** One call's audio on its way up. */
export class Uplink {
  readonly #call: Pick<BridgeCall, 'audio'>
  readonly #send: Send
  readonly #bytesPerMs: number
  #rest: Uint8Array = new Uint8Array(0)
  #nextMs: number | undefined

  /** `rate` is in samples a second. */
  constructor(call: Pick<BridgeCall, 'audio'>, rate: number, send: Send) {
    this.#call = call
    this.#bytesPerMs = rate / 500
    this.#send = send
  }

  /** Reads the call's audio to its end. */
  async run(): Promise<void> {
    for await (const frame of this.#call.audio) {
      const silence = this.#silenceBefore(frame)
      if (silence > 0) await this.#push(new Uint8Array(this.#bytes(silence)))
      await this.#push(frame.data)
    }
  }

  /** Sends what is too short for an event of its own. */
  flush(): void {
    if (this.#rest.length > 0) void this.#append(this.#rest)
    this.#rest = new Uint8Array(0)
  }

  async #push(data: Uint8Array): Promise<void> {
    const joined = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    const most = this.#bytes(MOST_MS)
    let at = 0
    while (joined.length - at >= this.#bytes(LEAST_MS)) {
      const end = Math.min(at + most, joined.length)
      const room = this.#append(joined.subarray(at, end))
      if (room) await room
      at = end
    }
    this.#rest = joined.subarray(at)
  }

  #append(data: Uint8Array): Promise<void> | undefined {
    const audio = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
    return this.#send(`{"type":"input_audio_buffer.append","audio":"${audio}"}`)
  }

  #silenceBefore({ timestampMs, durationMs }: AudioFrame): number {
    if (timestampMs === undefined) return 0
    const gap = timestampMs - (this.#nextMs ?? timestampMs)
    this.#nextMs = timestampMs + durationMs
    return Math.min(Math.max(0, gap), MOST_SILENCE_MS)
  }

  #bytes(ms: number): number {
    return Math.floor((ms * this.#bytesPerMs) / 2) * 2
  }
}
