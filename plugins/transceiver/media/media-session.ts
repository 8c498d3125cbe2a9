/**
 * One call's media: plain RTP and RTCP in and out, frames from the caller and frames to the caller. SRTP and
 * sockets are others' business. Every `now` is the playout clock's.
 */

import { randomInt } from 'node:crypto'
import { type AudioFrame, HEAD_ROOM, type Played, type PlayoutEvent } from '../../../core/index.ts'
import type { MediaSessionOptions } from './media-session-options.ts'
import { MediaStats } from './media-stats.ts'
import { ntpFraction, ntpMiddle, ntpSeconds } from './ntp.ts'
import { VOICE } from './opus-encoder.ts'
import type { Paced } from './pacer.ts'
import { roundTripMs, TICKS_PER_MS } from './receive-stats.ts'
import { MediaReceiver } from './receiver.ts'
import {
  ReportBlock,
  type RtcpHandlers,
  readRtcp,
  type SenderInfo,
  writeBye,
  writeCanonicalName,
  writeReceiverReport,
  writeSenderReport,
} from './rtcp.ts'
import { MediaSender } from './sender.ts'

/** The longest report: sender info and a block, a name of 255 bytes, a goodbye. */
const reports = Buffer.alloc(HEAD_ROOM + 52 + 268 + 8 + 64)
const block = new ReportBlock()
const info: SenderInfo = { ntpSeconds: 0, ntpFraction: 0, rtpTimestamp: 0, packets: 0, octets: 0 }

/** One call's media. It is on the clock only while it has something to wait for or to send. */
export class MediaSession implements Paced {
  readonly #o: MediaSessionOptions
  readonly #name: Uint8Array
  readonly #stats = new MediaStats()
  readonly #receiver: MediaReceiver
  readonly #sender: MediaSender
  readonly #handlers: RtcpHandlers
  #now = 0
  #sentAtReport = 0
  #wasSender = false
  #onPlayout: ((event: PlayoutEvent) => void) | undefined
  #started = false
  #closed = false

  constructor(options: MediaSessionOptions) {
    this.#o = options
    this.#name = Buffer.from(options.cname).subarray(0, 255)
    const { audio, format } = options
    const stats = this.#stats
    this.#receiver = new MediaReceiver({
      payloadType: audio.payloadType,
      telephoneEvents: audio.telephoneEvents,
      telephoneClockRates: audio.telephoneClockRates ?? [],
      format,
      stats,
      onFrame: (frame) => options.onFrame(frame),
      onTelephoneEvent: (digit, ms) => options.onTelephoneEvent(digit, ms),
    })
    this.#sender = new MediaSender({
      ssrc: options.ssrc,
      payloadType: audio.payloadType,
      format,
      opus: options.opus ?? VOICE,
      // Below 2^15: a receiver that loses the first packets must not guess the wrong rollover (RFC 3711 §3.3.1).
      sequence: options.initial?.sequence ?? randomInt(2 ** 15),
      timestamp: options.initial?.timestamp ?? randomInt(2 ** 32),
      mute: audio.direction === 'sendonly' || audio.direction === 'inactive',
      stats,
      send: (bytes, start, end) => options.sendRtp(bytes, start, end),
      onPlayout: (event) => this.#onPlayout?.(event),
    })
    this.#handlers = this.#makeHandlers()
  }

  /** The same object each time, brought up to date. */
  get stats(): Readonly<MediaStats> {
    this.#stats.lost = this.#receiver.source.lost
    this.#stats.jitterMs = this.#receiver.source.jitterMs
    return this.#stats
  }

  /** Audio queued for the caller and not yet sent. */
  get queuedMs(): number {
    return this.#sender.queuedMs
  }

  /** Audio may leave from now on; until then it is queued. Idempotent. */
  start(): void {
    this.#started = true
    this.#wake()
  }

  /** Takes an RTP packet, decrypted. */
  receiveRtp(now: number, bytes: Buffer, start: number, end: number): void {
    this.#receiver.packet(now, bytes, start, end)
    this.#wake()
  }

  /** Takes an RTCP compound, decrypted. */
  receiveRtcp(now: number, bytes: Buffer, start: number, end: number): void {
    if (this.#closed) return
    this.#now = now
    if (!readRtcp(bytes, start, end, this.#handlers)) this.#stats.malformed++
  }

  /**
   * Queues a frame in the session's format for the caller; the frame is the session's from now on. Resolves when
   * there is room for more; rejects with EdgeError `bridge_failed` for what is no such frame.
   */
  play(frame: AudioFrame, tag?: string): Promise<void> {
    const slot = this.#started ? this.#o.clock.slotAt(this.#o.clock.now()) : undefined
    const room = this.#sender.push(frame, tag, slot)
    this.#wake()
    return room
  }

  /** Drops what is queued; per tag since the last flush, the milliseconds really sent. */
  flush(): Played[] {
    return this.#sender.flush()
  }

  /** Hears what the playout does; one listener. */
  follow(onPlayout: (event: PlayoutEvent) => void): void {
    this.#onPlayout = onPlayout
  }

  /** Hands out everything that came by now, without waiting for what is missing before it. */
  handOut(): void {
    this.#receiver.handOut()
  }

  /** The clock's: sends what is due. */
  tick(now: number, slot: number): void {
    this.#receiver.advance(now)
    if (this.#started) this.#sender.tick(slot)
    if (!this.#busy) this.#o.clock.unregister(this)
  }

  /** Sends our report. To be called about once a second. */
  report(now: number): void {
    if (this.#closed) return
    this.#receiver.advance(now)
    this.#o.sendRtcp(reports, HEAD_ROOM, this.#writeReport(now))
  }

  /** Says goodbye if anything was ever sent, and frees everything. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#o.clock.unregister(this)
    if (this.#stats.packetsSent > 0) {
      const end = writeBye(reports, this.#writeReport(this.#o.clock.now()), this.#o.ssrc)
      this.#o.sendRtcp(reports, HEAD_ROOM, end)
    }
    this.#receiver.close()
    this.#sender.close()
  }

  get #busy(): boolean {
    return !this.#closed && (this.#receiver.waiting || (this.#started && this.#sender.busy))
  }

  #wake(): void {
    if (this.#busy) this.#o.clock.register(this)
  }

  /** A sender's report while audio was sent since the one before last (RFC 3550 §6.4), else a receiver's. */
  #writeReport(now: number): number {
    const { ssrc } = this.#o
    const sentNow = this.#stats.packetsSent > this.#sentAtReport
    const asSender = sentNow || this.#wasSender
    this.#wasSender = sentNow
    this.#sentAtReport = this.#stats.packetsSent
    block.ssrc = this.#stats.remoteSsrc ?? 0
    const filled = this.#receiver.source.report(now, block) ? block : undefined
    const at = asSender
      ? this.#writeSender(now, filled)
      : writeReceiverReport(reports, HEAD_ROOM, ssrc, filled)
    return writeCanonicalName(reports, at, ssrc, this.#name)
  }

  #writeSender(now: number, filled: ReportBlock | undefined): number {
    info.ntpSeconds = ntpSeconds(now)
    info.ntpFraction = ntpFraction(now)
    info.rtpTimestamp = this.#sender.timestampAt(this.#o.clock.slotAt(now))
    info.packets = this.#stats.packetsSent
    info.octets = this.#stats.octetsSent
    return writeSenderReport(reports, HEAD_ROOM, this.#o.ssrc, info, filled)
  }

  #makeHandlers(): RtcpHandlers {
    const stats = this.#stats
    return {
      senderReport: (ssrc, middle) => {
        if (ssrc === stats.remoteSsrc) this.#receiver.source.senderReport(this.#now, middle)
      },
      reportBlock: (_reporter, about) => {
        if (about.ssrc !== this.#o.ssrc) return
        this.#sender.reported(about.fractionLost)
        stats.peerLost = about.cumulativeLost
        stats.peerJitterMs = about.jitter / TICKS_PER_MS
        stats.roundTripMs = roundTripMs(ntpMiddle(this.#now), about) ?? stats.roundTripMs
      },
      canonicalName: () => {},
      bye: (ssrc) => {
        if (ssrc === stats.remoteSsrc) stats.saidBye = true
      },
    }
  }
}
