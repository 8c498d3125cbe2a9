/**
 * DTMF as RTP events (RFC 4733): each event comes as many packets, its end three times over; this says each event
 * once. Pure: time is an input.
 */

import { TICKS_PER_MS } from './receive-stats.ts'

const DIGITS = '0123456789*#ABCD'
/** An event of which no more is heard for so long is over, its end having been lost. */
const SILENT_MS = 250

/** Follows one source's events. */
export class TelephoneEvents {
  readonly #onEvent: (digit: string, durationMs: number) => void
  #timestamp = 0
  #code = -1
  /** Of the segments before this one, and of this one, in ticks. */
  #before = 0
  #duration = 0
  #heardAt = 0
  /** Said already; its packets may still come. */
  #said = true

  constructor(onEvent: (digit: string, durationMs: number) => void) {
    this.#onEvent = onEvent
  }

  /** Takes the payload in bytes[start, end). False when it is no event. */
  packet(
    now: number,
    timestamp: number,
    marker: boolean,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (end - start < 4) return false
    const code = bytes[start]!
    const duration = (bytes[start + 2]! << 8) | bytes[start + 3]!
    if (code !== this.#code || timestamp !== this.#timestamp) this.#begin(code, timestamp, marker)
    this.#heardAt = now
    if (duration > this.#duration) this.#duration = duration
    if (bytes[start + 1]! & 0x80) this.#say()
    return true
  }

  /** Says an event whose end was lost. To be called now and then. */
  advance(now: number): void {
    if (!this.#said && now - this.#heardAt >= SILENT_MS) this.#say()
  }

  #begin(code: number, timestamp: number, marker: boolean): void {
    const continued = (this.#timestamp + this.#duration) >>> 0
    if (!marker && !this.#said && code === this.#code && timestamp === continued) {
      this.#before += this.#duration
    } else {
      this.#say()
      this.#before = 0
      this.#said = false
    }
    this.#code = code
    this.#timestamp = timestamp
    this.#duration = 0
  }

  #say(): void {
    if (this.#said) return
    this.#said = true
    const digit = DIGITS[this.#code]
    if (digit !== undefined) this.#onEvent(digit, (this.#before + this.#duration) / TICKS_PER_MS)
  }
}
