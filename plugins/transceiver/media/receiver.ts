/**
 * The caller's audio, from RTP to frames. The source is whoever sends the agreed payload type: offers need not
 * name it, and it may change in mid-call. A bridge that takes Opus gets the packets untouched, any other samples
 * at its rate, without holes.
 *
 * There is no constant playout delay: a packet in order is handed on as it comes, and only a hole in the sequence
 * numbers is waited for, as long as `ReorderWait` finds worth while. In DTX there is no hole, and no wait.
 */

import type { AudioFormat, AudioFrame } from '../../../core/index.ts'
import { CallerAudio } from './caller-audio.ts'
import type { MediaStats } from './media-stats.ts'
import { ReceiveStats } from './receive-stats.ts'
import { type OrderedPacket, ReorderBuffer } from './reorder.ts'
import { RtpHeader, readRtp } from './rtp.ts'
import { TelephoneEvents } from './telephone-event.ts'

/** A packet is late by so many times the jitter at most, nearly always. */
const LATE_JITTERS = 4
/** Within these bounds. The least lets a packet show that the one before it was lost, before silence is in its place. */
const LEAST_LATE_MS = 60
const MOST_LATE_MS = 120
/** How long packets of a replaced source are known for what they are. */
const OLD_SOURCE_MS = 1000

/** What a receiver is told. */
export interface ReceiverOptions {
  readonly payloadType: number
  readonly telephoneEvents: readonly number[]
  /** In Hz, one for each of them; 48000 where there is none. */
  readonly telephoneClockRates: readonly number[]
  readonly format: AudioFormat
  readonly stats: MediaStats
  onFrame(frame: AudioFrame): void
  onTelephoneEvent(digit: string, durationMs: number): void
}

/** Receives one call's audio. */
export class MediaReceiver {
  readonly source = new ReceiveStats()
  readonly #o: ReceiverOptions
  readonly #header = new RtpHeader()
  readonly #reorder = new ReorderBuffer((packet) => this.#ordered(packet))
  readonly #events: TelephoneEvents
  readonly #audio: CallerAudio
  #oldSsrc = -1
  #changedAt = 0
  #now = 0
  #closed = false

  constructor(options: ReceiverOptions) {
    this.#o = options
    this.#events = new TelephoneEvents((digit, ms) => options.onTelephoneEvent(digit, ms))
    this.#audio = new CallerAudio(options.format, options.stats, (frame) => options.onFrame(frame))
  }

  /** True while `advance` has something to wait for. */
  get waiting(): boolean {
    return this.#reorder.held > 0 || this.#audio.waiting || this.#events.waiting
  }

  /** Takes the RTP packet in bytes[start, end). */
  packet(now: number, bytes: Uint8Array, start: number, end: number): void {
    const header = this.#header
    const { stats } = this.#o
    if (this.#closed) return
    if (!readRtp(bytes, start, end, header)) stats.malformed++
    else if (!this.#agreed(header.payloadType)) this.#pass(now, bytes)
    else if (!this.#latch(now, header.ssrc)) stats.oldSource++
    else {
      this.#now = now
      this.source.packet(now, header.sequence, header.timestamp)
      stats.packetsReceived++
      stats.octetsReceived += header.payloadEnd - header.payloadStart
      if (this.#reorder.push(now, header, bytes) === 'late') stats.late++
      this.#reorder.advance(now)
    }
  }

  /** Gives up on packets and events that should have come by now, and fills in silence that has passed. */
  advance(now: number): void {
    this.#now = now
    this.#reorder.advance(now)
    this.#events.advance(now)
    if (this.#reorder.held > 0) return
    const lateMs = Math.min(MOST_LATE_MS, Math.max(LEAST_LATE_MS, this.source.jitterMs * LATE_JITTERS))
    this.#audio.advance(now, lateMs)
  }

  /** Gives up on everything missing: what is held is handed on. */
  handOut(): void {
    this.#reorder.drain()
  }

  /** Frees the decoder; nothing is received any more. Idempotent. */
  close(): void {
    this.#closed = true
    this.#reorder.reset()
    this.#audio.close()
  }

  /** What was not agreed on is of no use; that it came from our source is: there is no hole where it was. */
  #pass(now: number, bytes: Uint8Array): void {
    const { stats } = this.#o
    stats.wrongPayloadType++
    if (this.#header.ssrc !== stats.remoteSsrc) return
    this.#now = now
    this.source.packet(now, this.#header.sequence, this.#header.timestamp)
    this.#reorder.push(now, this.#header, bytes)
    this.#reorder.advance(now)
  }

  #agreed(payloadType: number): boolean {
    return payloadType === this.#o.payloadType || this.#o.telephoneEvents.includes(payloadType)
  }

  #telephoneRate(payloadType: number): number {
    return this.#o.telephoneClockRates[this.#o.telephoneEvents.indexOf(payloadType)] ?? 48000
  }

  #latch(now: number, ssrc: number): boolean {
    const { stats } = this.#o
    if (ssrc === stats.remoteSsrc) return true
    if (ssrc === this.#oldSsrc && now - this.#changedAt < OLD_SOURCE_MS) return false
    this.#oldSsrc = stats.remoteSsrc ?? -1
    this.#changedAt = now
    stats.remoteSsrc = ssrc
    stats.saidBye = false
    this.source.reset()
    this.#reorder.reset()
    this.#audio.changeSource()
    return true
  }

  #ordered(packet: OrderedPacket): void {
    const { stats, payloadType } = this.#o
    this.#audio.missed(packet.lostBefore)
    if (packet.lostBefore < 0) this.#events.reset()
    if (!this.#agreed(packet.payloadType)) return
    const { start, end } = packet
    const good =
      packet.payloadType === payloadType
        ? this.#audio.packet(this.#now, packet)
        : this.#events.packet(this.#now, packet, this.#telephoneRate(packet.payloadType))
    // Padding alone is how senders probe for bandwidth.
    if (!good && (end > start || packet.payloadType !== payloadType)) stats.malformed++
  }
}
