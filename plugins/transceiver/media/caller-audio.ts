/**
 * The caller's packets, in order, as frames on one time line. For a bridge that takes samples the line has no holes:
 * what was lost is made up, from the next packet's FEC where it has any, and DTX's silence is filled in.
 *
 * DTX is told from loss by sequence numbers: a hole in them is loss; time that passes without one is silence. A caller
 * in DTX says so by a last packet of 2 bytes or less and then sends nothing but a sign of life every 400 ms (RFC 7587
 * §3.1.3), so its silence is filled in by the clock as it passes, and who waits for the end of a turn hears it. When
 * nothing has come for three times that long, or the last packet was sound, it may as well be the network that is dead:
 * nothing is made up then until the next packet comes.
 *
 * Pure but for the decoder: time is an input.
 */

import type { AudioFormat, AudioFrame } from '../../../core/index.ts'
import { CallerPace } from './caller-pace.ts'
import type { MediaStats } from './media-stats.ts'
import { OpusDecoder } from './opus.ts'
import { opusSamples } from './opus-packet.ts'
import { TICKS_PER_MS } from './receive-stats.ts'
import type { OrderedPacket } from './reorder.ts'

/** A packet of so many bytes holds no sound. */
const MOST_SILENT_BYTES = 2
/** How long DTX's silence is believed in without a sign of life. */
const MOST_DTX = 1200 * TICKS_PER_MS
/** A packet that comes after so much silence may be such a sign. */
const LEAST_DTX = 100 * TICKS_PER_MS
/** What is filled in by the clock at a time. */
const FILL = 20 * TICKS_PER_MS
/** What concealment makes up at a time. */
const MOST_CONCEALED = 120 * TICKS_PER_MS
/** What is made up before a packet; a longer silence or outage is left for the frames' timestamps to show. */
const MOST_MADE_UP = 480 * TICKS_PER_MS
/** What is filled in by the clock in one of its slots: after a stall, what came in the meantime is to be read first. */
const MOST_FILLED = 2 * FILL
/** Concealment comes in steps of 2.5 ms. */
const STEP = 120

/** Turns one call's audio packets into frames. */
export class CallerAudio {
  readonly #format: AudioFormat
  readonly #stats: MediaStats
  readonly #onFrame: (frame: AudioFrame) => void
  #decoder: OpusDecoder | undefined
  /** Where the next frame lies on the caller's time line, in ticks, and its timestamp if nothing is missing. */
  #position = 0
  #expected = -1
  readonly #pace = new CallerPace()
  #lastAt = -1
  #lastTicks = 0
  #lost = 0
  #isInDtx = false
  /** By how much the time line is ahead of the packets, the clock having filled it in. */
  #filled = 0

  constructor(format: AudioFormat, stats: MediaStats, onFrame: (frame: AudioFrame) => void) {
    this.#format = format
    this.#stats = stats
    this.#onFrame = onFrame
  }

  /** True while `advance` has silence to fill in. */
  get waiting(): boolean {
    return this.#isInDtx && this.#filled < MOST_DTX
  }

  /** Packets before the next one were lost; or, below 0, its timestamps begin anew. */
  missed(packets: number): void {
    if (packets > 0) this.#lost += packets
    if (packets < 0) this.#expected = -1
  }

  /** Another source takes over; its timestamps begin anew. */
  changeSource(): void {
    this.#lost = 0
    this.#decoder?.reset()
  }

  /** The next audio packet. False when it is no Opus. */
  packet(now: number, packet: OrderedPacket): boolean {
    const { bytes, start, end, timestamp } = packet
    const ticks = opusSamples(bytes, start, end)
    if (ticks === 0) return false
    const gap = this.#pace.take(now, this.#gap(now, timestamp), ticks)
    this.#expected = (timestamp + ticks) >>> 0
    if (gap < 0) {
      this.#stats.tooFast++
      return true
    }
    if (this.#format === 'opus') {
      this.#position += gap
      this.#frame(copy(bytes, start, end), ticks)
    } else this.#decode(this.#format.pcm16, gap, packet, ticks)
    this.#lastAt = now
    this.#lastTicks = ticks
    this.#lost = 0
    return true
  }

  /** Fills in what silence has passed in DTX, packets being late by at most `lateMs`. */
  advance(now: number, lateMs: number): void {
    if (!this.waiting) return
    const passed = (now - this.#lastAt - lateMs) * TICKS_PER_MS
    const upTo = Math.min(passed, this.#filled + MOST_FILLED)
    while (this.waiting && this.#filled + FILL <= upTo) {
      this.#make(FILL)
      this.#filled += FILL
    }
  }

  /** Frees the decoder. Idempotent. */
  close(): void {
    this.#isInDtx = false
    this.#decoder?.close()
    this.#decoder = undefined
  }

  /** Ticks between the last packet's end and this one: by timestamps, or by the clock where those began anew. */
  #gap(now: number, timestamp: number): number {
    if (this.#expected >= 0) return Math.max(0, (timestamp - this.#expected) | 0)
    if (this.#lastAt < 0) return 0
    return Math.max(0, Math.round((now - this.#lastAt) * TICKS_PER_MS) - this.#lastTicks)
  }

  #decode(rate: OpusDecoder['rate'], gap: number, packet: OrderedPacket, ticks: number): void {
    const { bytes, start, end } = packet
    this.#decoder ??= new OpusDecoder(rate)
    const missing = gap - this.#filled
    this.#filled = Math.max(0, -missing)
    if (missing > 0) this.#fill(missing, packet)
    this.#isInDtx = end - start <= MOST_SILENT_BYTES || (this.#isInDtx && gap >= LEAST_DTX)
    const data = this.#decoder.decode(bytes, start, end) ?? this.#decoder.conceal((ticks * rate) / 48000)
    if (data) this.#frame(data, ticks)
  }

  /** Makes up what lies right before `packet`, as far as that makes sense. */
  #fill(missing: number, packet: OrderedPacket): void {
    let left = Math.min(missing, MOST_MADE_UP)
    left -= left % STEP
    if (this.#lost > 0) {
      // In DTX what is missing is silence, but for the packets that were lost.
      const lost = this.#isInDtx ? Math.min(left, this.#lost * this.#lastTicks) : left
      this.#stats.concealedMs += lost / TICKS_PER_MS
    }
    this.#position += missing - left
    for (; left > MOST_CONCEALED; left -= MOST_CONCEALED) this.#make(MOST_CONCEALED)
    if (left > 0) this.#make(left, this.#lost > 0 ? packet : undefined)
  }

  /** A frame of so many ticks out of what came before and, where that was lost, out of the packet behind. */
  #make(ticks: number, next?: OrderedPacket): void {
    const decoder = this.#decoder!
    const samples = (ticks * decoder.rate) / 48000
    const data = next ? decoder.recover(samples, next.bytes, next.start, next.end) : decoder.conceal(samples)
    if (data) this.#frame(data, ticks)
    else this.#position += ticks
  }

  #frame(data: Uint8Array, ticks: number): void {
    const timestampMs = this.#position / TICKS_PER_MS
    this.#position += ticks
    this.#onFrame({ data, durationMs: ticks / TICKS_PER_MS, timestampMs })
  }
}

function copy(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const own = new Uint8Array(end - start)
  for (let i = 0; i < own.length; i++) own[i] = bytes[start + i]!
  return own
}
