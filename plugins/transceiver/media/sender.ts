/** The bridge's audio, from frames to RTP: one packet's worth a slot, while there is any. */

import {
  type AudioFormat,
  type AudioFrame,
  HEAD_ROOM,
  type Played,
  type PlayoutEvent,
} from '../../../core/index.ts'
import type { MediaStats } from './media-stats.ts'
import { type OpusEncoder, type OpusRate, openEncoder } from './opus.ts'
import { MAX_OPUS_PACKET, opusSamples } from './opus-packet.ts'
import { PlayoutQueue } from './playout.ts'
import { RTP_HEADER, writeRtp } from './rtp.ts'
import { SLOT_TICKS, Talkspurt } from './talkspurt.ts'

/** Bytes behind a packet that the receiver of it may write to: SRTP's tag. */
const TAIL_ROOM = 64
/** Sending is synchronous, so one buffer serves every call. */
const outgoing = Buffer.alloc(HEAD_ROOM + RTP_HEADER + MAX_OPUS_PACKET + TAIL_ROOM)

/** What a sender is told. */
export interface SenderOptions {
  readonly ssrc: number
  readonly payloadType: number
  readonly format: AudioFormat
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
  #encoder: OpusEncoder | undefined
  #silence: Uint8Array | undefined
  #sequence: number
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

  /** Queues a frame; see `PlayoutQueue.push`. */
  push(frame: AudioFrame, tag: string | undefined): Promise<void> {
    return this.#queue.push(frame, tag)
  }

  /** Drops what is queued; see `PlayoutQueue.flush`. */
  flush(): Played[] {
    return this.#queue.flush()
  }

  /** The RTP timestamp at an instant in slots, which may be a fraction. */
  timestampAt(slot: number): number {
    return this.#wrap(Math.round(slot * SLOT_TICKS))
  }

  /** Sends what is due in `slot`. */
  tick(slot: number): void {
    const { format } = this.#o
    while (!this.#closed && this.#talkspurt.due(slot, this.#queue.queuedMs)) {
      if (this.#queue.queuedMs === 0) {
        if (this.#talkspurt.isOver(slot)) this.#finish()
        return
      }
      if (format === 'opus') this.#sendPacket(this.#queue.takePacket()!)
      else this.#sendSlice(this.#queue.takeSlice()!, format.pcm16)
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

  /** An encoder looks ahead: one slot of silence brings out the last milliseconds that were given to it. */
  #finish(): void {
    const { format } = this.#o
    if (format !== 'opus') {
      this.#silence ??= new Uint8Array((format.pcm16 / 50) * 2)
      this.#sendSlice(this.#silence, format.pcm16)
    }
    this.#talkspurt.end()
    this.#queue.drained()
  }

  #sendPacket(packet: Uint8Array): void {
    const payload = HEAD_ROOM + RTP_HEADER
    for (let i = 0; i < packet.length; i++) outgoing[payload + i] = packet[i]!
    this.#send(packet.length, opusSamples(packet, 0, packet.length))
  }

  #sendSlice(pcm: Uint8Array, rate: OpusRate): void {
    this.#encoder ??= openEncoder(rate)
    this.#send(this.#encoder.encode(pcm, outgoing, HEAD_ROOM + RTP_HEADER), SLOT_TICKS)
  }

  #send(length: number, ticks: number): void {
    const { stats, ssrc, payloadType } = this.#o
    const timestamp = this.#wrap(this.#talkspurt.advance(ticks))
    if (this.#o.mute || length === 0) return
    writeRtp(outgoing, HEAD_ROOM, payloadType, this.#talkspurt.takeFirst(), this.#sequence, timestamp, ssrc)
    this.#sequence = (this.#sequence + 1) & 0xffff
    stats.packetsSent++
    stats.octetsSent += length
    this.#o.send(outgoing, HEAD_ROOM, HEAD_ROOM + RTP_HEADER + length)
  }

  #wrap(ticks: number): number {
    return (this.#o.timestamp + ticks) % 2 ** 32
  }
}
