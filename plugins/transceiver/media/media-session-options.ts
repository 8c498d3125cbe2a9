/** What a call's media is made from. Types alone. */

import type { AudioFormat, AudioFrame } from '../../../core/index.ts'
import type { OpusSettings } from './opus-encoder.ts'
import type { PlayoutClock } from './pacer.ts'

/** What the offer said of its audio. */
export interface AgreedAudio {
  /** Opus' payload type. */
  readonly payloadType: number
  /** Telephone events' payload types. */
  readonly telephoneEvents: readonly number[]
  /** The clock rate in Hz of each of them; 48000 unless given. */
  readonly telephoneClockRates?: readonly number[]
  /** The caller's own; nothing is sent to one that only sends. Default `sendrecv`. */
  readonly direction?: string
}

/** What a session is told. */
export interface MediaSessionOptions {
  readonly ssrc: number
  /** At most 255 bytes of UTF-8. */
  readonly cname: string
  readonly audio: AgreedAudio
  readonly format: AudioFormat
  /** How to encode; for voice unless given. */
  readonly opus?: OpusSettings | undefined
  readonly clock: PlayoutClock
  /** Where sequence numbers and timestamps begin; random unless given. */
  readonly initial?: { readonly sequence: number; readonly timestamp: number }
  /** Plain RTP in bytes[start, end), with HEAD_ROOM in front and 64 bytes behind; reused after it returns. */
  sendRtp(bytes: Buffer, start: number, end: number): void
  /** Plain RTCP, likewise. */
  sendRtcp(bytes: Buffer, start: number, end: number): void
  onFrame(frame: AudioFrame): void
  /** One of 0–9, *, #, A–D; once an event, when it has ended. */
  onTelephoneEvent(digit: string, durationMs: number): void
}
