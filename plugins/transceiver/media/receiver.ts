/**
 * The caller's audio, from RTP to frames. The source is whoever sends the agreed payload type: offers need not
 * name it, and it may change in mid-call. A bridge that takes Opus gets the packets untouched, any other samples
 * at its rate, with lost packets made up and DTX's silence filled in.
 */

import type { AudioFormat, AudioFrame } from '../../../core/index.ts'
import type { MediaStats } from './media-stats.ts'
import { OpusDecoder } from './opus.ts'
import { opusSamples } from './opus-packet.ts'
import { ReceiveStats, TICKS_PER_MS } from './receive-stats.ts'
import { type OrderedPacket, ReorderBuffer } from './reorder.ts'
import { RtpHeader, readRtp } from './rtp.ts'
import { TelephoneEvents } from './telephone-event.ts'

/** 120 ms: what concealment can make up before it has faded out. */
const MOST_CONCEALED = 120 * TICKS_PER_MS
/** Senders in DTX send every 400 ms; a longer silence is left for the frames' timestamps to show. */
const MOST_SILENCE = 480 * TICKS_PER_MS
/** Concealment comes in steps of 2.5 ms. */
const STEP = 120
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
  #decoder: OpusDecoder | undefined
  #oldSsrc = -1
  #changedAt = 0
  #now = 0
  /** Where the next frame lies on the caller's time line, in ticks, and its timestamp if nothing is missing. */
  #position = 0
  #expected = 0
  #lastAudioAt = -1
  #lost = 0
  #closed = false

  constructor(options: ReceiverOptions) {
    this.#o = options
    this.#events = new TelephoneEvents((digit, ms) => options.onTelephoneEvent(digit, ms))
  }

  /** True while `advance` has something to wait for. */
  get waiting(): boolean {
    return this.#reorder.held > 0
  }

  /** Takes the RTP packet in bytes[start, end). */
  packet(now: number, bytes: Uint8Array, start: number, end: number): void {
    const header = this.#header
    const { stats } = this.#o
    if (this.#closed) return
    if (!readRtp(bytes, start, end, header)) stats.malformed++
    else if (!this.#agreed(header.payloadType)) stats.wrongPayloadType++
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

  /** Gives up on packets and events that should have come by now. */
  advance(now: number): void {
    this.#now = now
    this.#reorder.advance(now)
    this.#events.advance(now)
  }

  /** Gives up on everything missing: what is held is handed on. */
  handOut(): void {
    this.#reorder.drain()
  }

  /** Frees the decoder; nothing is received any more. Idempotent. */
  close(): void {
    this.#closed = true
    this.#reorder.reset()
    this.#decoder?.close()
    this.#decoder = undefined
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
    this.#decoder?.reset()
    return true
  }

  #ordered(packet: OrderedPacket): void {
    const { stats, payloadType } = this.#o
    if (packet.lostBefore > 0) this.#lost += packet.lostBefore
    if (packet.lostBefore < 0) this.#expected = -1
    const { bytes, start, end } = packet
    if (packet.payloadType !== payloadType) {
      if (!this.#events.packet(this.#now, packet, this.#telephoneRate(packet.payloadType))) stats.malformed++
      return
    }
    const ticks = opusSamples(bytes, start, end)
    if (ticks === 0) {
      // Padding alone is how senders probe for bandwidth.
      if (end > start) stats.malformed++
      return
    }
    const gap = this.#gap(packet.timestamp)
    this.#position += gap
    this.#expected = (packet.timestamp + ticks) >>> 0
    this.#lastAudioAt = this.#now
    this.#deliver(packet, gap, ticks)
    this.#lost = 0
    this.#position += ticks
  }

  /** Ticks between the last frame's end and this one: by timestamps, or by the clock where those began anew. */
  #gap(timestamp: number): number {
    if (this.#expected >= 0) return Math.max(0, (timestamp - this.#expected) | 0)
    if (this.#lastAudioAt < 0) return 0
    return Math.max(0, Math.round((this.#now - this.#lastAudioAt) * TICKS_PER_MS))
  }

  #deliver(packet: OrderedPacket, gap: number, ticks: number): void {
    const { bytes, start, end } = packet
    if (this.#o.format === 'opus') {
      this.#frame(copy(bytes, start, end), this.#position, ticks)
      return
    }
    this.#decoder ??= new OpusDecoder(this.#o.format.pcm16)
    if (gap >= STEP) this.#fill(gap, packet)
    const perTick = this.#decoder.rate / 48000
    const data = this.#decoder.decode(bytes, start, end) ?? this.#decoder.conceal(ticks * perTick)
    if (data) this.#frame(data, this.#position, ticks)
  }

  /** Makes up what lies right before `packet`. */
  #fill(gap: number, packet: OrderedPacket): void {
    const decoder = this.#decoder!
    const lost = this.#lost > 0
    let left = Math.min(gap, lost ? MOST_CONCEALED : MOST_SILENCE)
    left -= left % STEP
    if (lost) this.#o.stats.concealedMs += left / TICKS_PER_MS
    while (left > 0) {
      const ticks = Math.min(left, MOST_CONCEALED)
      const samples = (ticks * decoder.rate) / 48000
      const data = lost
        ? decoder.recover(samples, packet.bytes, packet.start, packet.end)
        : decoder.conceal(samples)
      if (data) this.#frame(data, this.#position - left, ticks)
      left -= ticks
    }
  }

  #frame(data: Uint8Array, position: number, ticks: number): void {
    this.#o.onFrame({
      data,
      durationMs: ticks / TICKS_PER_MS,
      timestampMs: position / TICKS_PER_MS,
    })
  }
}

function copy(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const own = new Uint8Array(end - start)
  for (let i = 0; i < own.length; i++) own[i] = bytes[start + i]!
  return own
}
