/** The bridge's audio, from frames to RTP: one packet's worth a slot, while there is any, silence left out. */

import {
  type AudioFormat,
  type AudioFrame,
  HEAD_ROOM,
  type Played,
  type PlayoutEvent,
} from '../../../core/index.ts'
import { Cushion } from './cushion.ts'
import type { MediaStats } from './media-stats.ts'
import type { OpusRate } from './opus.ts'
import { EXPECTED_LOSS, type OpusEncoder, type OpusSettings, openEncoder } from './opus-encoder.ts'
import { MAX_OPUS_PACKET, opusSamples } from './opus-packet.ts'
import { SLOT_MS } from './pacer.ts'
import { PlayoutQueue } from './playout.ts'
import { RTP_HEADER, writeRtp } from './rtp.ts'
import { SLOT_TICKS, Talkspurt } from './talkspurt.ts'

/** Bytes behind a packet that the receiver of it may write to: SRTP's tag. */
const TAIL_ROOM = 64
/** An Opus packet of so many bytes holds no sound. */
const MOST_SILENT_BYTES = 2
/** FEC for more loss than this costs more than it is worth. */
const MOST_LOSS = 20
/** What the expectation falls to from one report to the next. */
const LOSS_DECAY = 0.8
/** Sending is synchronous, so one buffer serves every call. */
const outgoing = Buffer.alloc(HEAD_ROOM + RTP_HEADER + MAX_OPUS_PACKET + TAIL_ROOM)

/** What a sender is told. */
export interface SenderOptions {
  readonly ssrc: number
  readonly payloadType: number
  readonly format: AudioFormat
  /** Of what is encoded here. */
  readonly opus: OpusSettings
  /** Where sequence numbers and timestamps begin; random (RFC 3550 §5.1). */
  readonly sequence: number
  readonly timestamp: number
  /** True when the caller does not want to hear: audio is paced and counted as ever, but not sent. */
  readonly mute: boolean
  readonly stats: MediaStats
  /** The packet is in bytes[start, end); they are the sender's again on return. */
  send(bytes: Buffer, start: number, end: number): void
  /** See the bridge contract. */
  onPlayout(event: PlayoutEvent): void
}

/** Sends one call's audio. */
export class MediaSender {
  readonly #o: SenderOptions
  readonly #queue: PlayoutQueue
  readonly #talkspurt = new Talkspurt()
  readonly #cushion = new Cushion()
  #encoder: OpusEncoder | undefined
  #silence: Uint8Array | undefined
  #sequence: number
  /** Of a hundred packets. */
  #expectedLoss = EXPECTED_LOSS
  /** Of the last frame that was queued: what comes under another tag is not late. */
  #tag: string | undefined
  /** Nothing was queued since the last flush: what comes next is not late. */
  #flushed = true
  /** How much of the last packet was silence, for want of samples. */
  #paddedMs = 0
  /** The last packet told the receiver that silence begins. */
  #saidSilent = false
  /** Silence was left out, and no talkspurt has begun since. */
  #leftOut = false
  #closed = false

  constructor(options: SenderOptions) {
    this.#o = options
    this.#queue = new PlayoutQueue(options.format, (event) => options.onPlayout(event))
    this.#sequence = options.sequence
  }

  /** Queued and not yet sent. */
  get queuedMs(): number {
    return this.#queue.queuedMs
  }

  /** True while `tick` has something to do. */
  get busy(): boolean {
    return this.#talkspurt.active || this.#queue.queuedMs > 0
  }

  /**
   * Queues a frame; see `PlayoutQueue.push`. A frame that was waited for leaves at once, not with the next slot:
   * `slot` is the instant in slots, or undefined while nothing may leave.
   */
  push(frame: AudioFrame, tag: string | undefined, slot: number | undefined): Promise<void> {
    const queuedMs = this.#queue.queuedMs
    const room = this.#queue.push(frame, tag)
    if (slot === undefined || this.#queue.queuedMs === queuedMs) return room
    if (this.#flushed) this.#beginAnew()
    else if (tag === this.#tag) this.#judge(slot, queuedMs, this.#queue.queuedMs - queuedMs)
    this.#tag = tag
    if (queuedMs < SLOT_MS || !this.#talkspurt.active) this.tick(slot)
    return room
  }

  /** Drops what is queued; see `PlayoutQueue.flush`. */
  flush(): Played[] {
    this.#flushed = true
    this.#talkspurt.dropped()
    return this.#queue.flush()
  }

  /** The receiver's report: what part of the packets it lost, from 0 to 255. */
  reported(fractionLost: number): void {
    const percent = (fractionLost * 100) / 256
    const before = Math.round(this.#expectedLoss)
    this.#expectedLoss = Math.min(MOST_LOSS, Math.max(percent, this.#expectedLoss * LOSS_DECAY))
    const now = Math.round(this.#expectedLoss)
    if (now !== before) this.#encoder?.expectLoss(now)
  }

  /** The RTP timestamp at an instant in slots, which may be a fraction. */
  timestampAt(slot: number): number {
    return this.#wrap(Math.round(slot * SLOT_TICKS))
  }

  /** Sends what is due at this instant, in slots. */
  tick(slot: number): void {
    const { format } = this.#o
    const queue = this.#queue
    while (!this.#closed && this.#talkspurt.due(slot, queue.queuedMs, this.#cushion.ms)) {
      // Less than a packet's worth waits for more while that can still come in time.
      if (queue.queuedMs < (format === 'opus' ? 1 : SLOT_MS) && !this.#talkspurt.isOver(slot)) return
      if (queue.queuedMs === 0) {
        this.#finish()
        return
      }
      if (format === 'opus') this.#sendPacket(queue.takePacket()!)
      else {
        this.#paddedMs = Math.max(0, SLOT_MS - queue.queuedMs)
        this.#sendSlice(queue.takeSlice()!, format.pcm16)
      }
    }
  }

  /** Frees the encoder, drops what is queued; nothing is sent any more. Idempotent. */
  close(): void {
    this.#closed = true
    this.#queue.close()
    this.#talkspurt.end()
    this.#encoder?.close()
    this.#encoder = undefined
  }

  /** A frame came: was it in time? */
  #judge(slot: number, queuedMs: number, durationMs: number): void {
    const spareMs = queuedMs - this.#talkspurt.silentMs(slot)
    // Samples that had to leave before a packet was full were late by what it lacked.
    if (queuedMs === 0 && (spareMs < 0 || this.#paddedMs > 0))
      this.#cushion.late(Math.max(-spareMs, this.#paddedMs))
    else if (this.#talkspurt.active) this.#cushion.inTime(spareMs, durationMs)
  }

  /** After a flush: what comes now has a cushion of its own, even before the silence that a pause would be. */
  #beginAnew(): void {
    this.#flushed = false
    if (this.#talkspurt.active && this.#cushion.ms > 0) this.#finish()
  }

  /** An encoder looks ahead: one slot of silence brings out the last milliseconds that were given to it. */
  #finish(): void {
    const { format } = this.#o
    if (format !== 'opus') {
      this.#silence ??= new Uint8Array((format.pcm16 / 50) * 2)
      this.#sendSlice(this.#silence, format.pcm16, false)
    }
    this.#talkspurt.end()
    this.#queue.drained()
  }

  #sendPacket(packet: Uint8Array): void {
    const payload = HEAD_ROOM + RTP_HEADER
    for (let i = 0; i < packet.length; i++) outgoing[payload + i] = packet[i]!
    const ticks = opusSamples(packet, 0, packet.length)
    this.#send(packet.length, this.#talkspurt.advance(ticks), this.#talkspurt.takeFirst())
  }

  #sendSlice(pcm: Uint8Array, rate: OpusRate, sounds = true): void {
    const encoder = this.#encoder ?? this.#openEncoder(rate)
    const length = encoder.encode(pcm, outgoing, HEAD_ROOM + RTP_HEADER)
    const at = this.#talkspurt.advance(SLOT_TICKS, sounds)
    const isSilent = length <= MOST_SILENT_BYTES
    // The first such packet tells the receiver that silence begins; the others need not be sent (RFC 7587 §3.1.3).
    if (isSilent && this.#saidSilent) this.#leftOut = true
    else {
      const resumes = this.#leftOut && !encoder.isInDtx
      if (resumes) this.#leftOut = false
      this.#send(length, at, this.#talkspurt.takeFirst() || resumes)
    }
    this.#saidSilent = isSilent
  }

  #openEncoder(rate: OpusRate): OpusEncoder {
    const encoder = openEncoder(rate, this.#o.opus)
    encoder.expectLoss(Math.round(this.#expectedLoss))
    this.#encoder = encoder
    return encoder
  }

  #send(length: number, at: number, marker: boolean): void {
    const { stats, ssrc, payloadType } = this.#o
    if (this.#o.mute || length === 0) return
    writeRtp(outgoing, HEAD_ROOM, payloadType, marker, this.#sequence, this.#wrap(at), ssrc)
    this.#sequence = (this.#sequence + 1) & 0xffff
    stats.packetsSent++
    stats.octetsSent += length
    this.#o.send(outgoing, HEAD_ROOM, HEAD_ROOM + RTP_HEADER + length)
  }

  #wrap(ticks: number): number {
    return (this.#o.timestamp + ticks) % 2 ** 32
  }
}
