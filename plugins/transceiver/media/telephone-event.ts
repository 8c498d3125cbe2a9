/**
 * DTMF as RTP events (RFC 4733): each event comes as many packets, its end three times over; this says each event
 * once. Pure: time is an input.
 */

import type { OrderedPacket } from './reorder.ts'

const DIGITS = '0123456789*#ABCD'
/** An event of which no more is heard for so long is over, its end having been lost. */
const SILENT_MS = 250
/** For so long after an event, one with an older timestamp is one before it. */
const STRAY_MS = 1000

/** Follows one source's events. */
export class TelephoneEvents {
  readonly #onEvent: (digit: string, durationMs: number) => void
  #timestamp = 0
  #code = -1
  /** Of the segments before this one, and of this one, in ticks. */
  #before = 0
  #duration = 0
  #heardAt = Number.NEGATIVE_INFINITY
  #rate = 48000
  /** Said already; its packets may still come. */
  #said = true

  constructor(onEvent: (digit: string, durationMs: number) => void) {
    this.#onEvent = onEvent
  }

  /** True while `advance` has an end to wait for. */
  get waiting(): boolean {
    return !this.#said
  }

  /** Another source takes over: its events are others, wherever their timestamps lie. */
  reset(): void {
    this.#say()
    this.#code = -1
    this.#heardAt = Number.NEGATIVE_INFINITY
  }

  /** Takes a packet whose durations count at `rate` Hz. False when it is no event. */
  packet(now: number, packet: OrderedPacket, rate: number): boolean {
    const { bytes, start, end, timestamp } = packet
    if (end - start < 4) return false
    const code = bytes[start]!
    const duration = (bytes[start + 2]! << 8) | bytes[start + 3]!
    if (code !== this.#code || timestamp !== this.#timestamp) {
      // The end of an event comes three times, and may do so when the next has begun; it was said by then.
      if (now - this.#heardAt < STRAY_MS && ((timestamp - this.#timestamp) | 0) < 0) return true
      this.#begin(code, timestamp, packet.marker)
    }
    this.#heardAt = now
    this.#rate = rate
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
    if (digit !== undefined) this.#onEvent(digit, ((this.#before + this.#duration) * 1000) / this.#rate)
  }
}
