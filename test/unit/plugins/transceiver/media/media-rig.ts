/** A media session on fake time, with what it sent and handed on, for its tests. */

import type { AudioFormat, AudioFrame } from '../../../../../core/index.ts'
import { FakeClock } from '../../../../../core/testing/fake-clock.ts'
import { MediaSession } from '../../../../../plugins/transceiver/media/media-session.ts'
import type { AgreedAudio } from '../../../../../plugins/transceiver/media/media-session-options.ts'
import type { OpusSettings } from '../../../../../plugins/transceiver/media/opus-encoder.ts'
import { PlayoutClock } from '../../../../../plugins/transceiver/media/pacer.ts'
import { RtpHeader, readRtp, writeRtp } from '../../../../../plugins/transceiver/media/rtp.ts'

/** A packet that was sent. */
export interface Sent {
  readonly at: number
  readonly sequence: number
  readonly timestamp: number
  readonly marker: boolean
  readonly payloadType: number
  readonly ssrc: number
  readonly payload: Buffer
}

/** What an offer agreed on, unless a test says otherwise. */
export const AUDIO: AgreedAudio = { payloadType: 111, telephoneEvents: [110], direction: 'sendrecv' }

/** Sequence numbers and timestamps begin just before they wrap. */
export const INITIAL = { sequence: 65533, timestamp: 2 ** 32 - 1000 }

/** One session and everything around it. */
export class MediaRig {
  readonly time = new FakeClock(5000)
  readonly clock = new PlayoutClock({ now: this.time.now, schedule: (run, ms) => this.time.after(ms, run) })
  readonly sent: Sent[] = []
  readonly reports: Buffer[] = []
  readonly frames: AudioFrame[] = []
  readonly digits: string[] = []
  readonly session: MediaSession
  readonly #header = new RtpHeader()
  readonly #bytes = Buffer.alloc(2048)

  constructor(format: AudioFormat, audio: AgreedAudio = AUDIO, opus?: OpusSettings) {
    this.session = new MediaSession({
      ssrc: 0xcafe,
      cname: 'edge',
      audio,
      format,
      opus,
      clock: this.clock,
      initial: INITIAL,
      sendRtp: (bytes, start, end) => this.#onRtp(bytes, start, end),
      sendRtcp: (bytes, start, end) => this.reports.push(Buffer.from(bytes.subarray(start, end))),
      onFrame: (frame) => this.frames.push(frame),
      onTelephoneEvent: (digit, ms) => this.digits.push(`${digit} ${ms}`),
    })
  }

  /** A packet comes from the caller, in bytes that are written over afterwards. */
  receive(
    sequence: number,
    timestamp: number,
    payload: Uint8Array,
    { payloadType = 111, ssrc = 7, marker = false } = {},
  ): void {
    const at = writeRtp(this.#bytes, 9, payloadType, marker, sequence & 0xffff, timestamp % 2 ** 32, ssrc)
    this.#bytes.set(payload, at)
    this.session.receiveRtp(this.time.now(), this.#bytes, 9, at + payload.length)
    this.#bytes.fill(0xee)
  }

  receiveRtcp(bytes: Buffer): void {
    this.session.receiveRtcp(this.time.now(), bytes, 0, bytes.length)
  }

  #onRtp(bytes: Buffer, start: number, end: number): void {
    if (bytes.length - end < 32 || start < 64) throw new Error('no room around the packet')
    if (!readRtp(bytes, start, end, this.#header)) throw new Error('what was sent is no RTP')
    const { sequence, timestamp, marker, payloadType, ssrc, payloadStart, payloadEnd } = this.#header
    const payload = Buffer.from(bytes.subarray(payloadStart, payloadEnd))
    this.sent.push({ at: this.time.now(), sequence, timestamp, marker, payloadType, ssrc, payload })
    bytes.fill(0xee, start, end)
  }
}
