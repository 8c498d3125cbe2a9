/** A client's audio: Opus packets in RTP, protected by SRTP, both ways. It is a packet source, not a codec. */

import { randomBytes } from 'node:crypto'
import { RtpHeader, readRtp, writeRtp } from '../../plugins/transceiver/media/rtp.ts'
import { SRTP_OVERHEAD, SrtpSession } from '../../plugins/transceiver/media/srtp.ts'
import type { SrtpKeys } from '../../plugins/transceiver/media/srtp-keys.ts'
import type { Inbox } from './inbox.ts'

/** A packet of the server's. */
export interface ReceivedAudio {
  readonly payload: Buffer
  readonly payloadType: number
  readonly sequence: number
  readonly timestamp: number
  readonly marker: boolean
  readonly ssrc: number
}

/** What may differ from the next packet in line. */
export interface AudioFields {
  readonly payloadType?: number
  readonly marker?: boolean
  /** Ticks of 48 kHz that the next packet is later by. Default 960: 20 ms. */
  readonly ticks?: number
}

const ROOM = 2048

/** The audio of one client, once its keys are known. */
export class ClientAudio {
  readonly received: Inbox<ReceivedAudio>
  /** SRTCP compounds of the server's, decrypted. */
  readonly receivedRtcp: Inbox<Buffer>
  /** Packets that could not be decrypted. */
  refused = 0
  sequence = randomBytes(2).readUInt16BE() & 0x7fff
  timestamp = randomBytes(4).readUInt32BE()
  readonly ssrc: number
  readonly srtp: SrtpSession
  readonly #payloadType: number
  readonly #send: (bytes: Buffer, start: number, end: number) => void
  readonly #keep: boolean
  readonly #out = Buffer.alloc(ROOM)
  readonly #header = new RtpHeader()

  /** With `keep` false, what comes in is counted and not kept. */
  constructor(
    o: {
      keys: SrtpKeys
      payloadType: number
      ssrc: number
      keep: boolean
      received: Inbox<ReceivedAudio>
      receivedRtcp: Inbox<Buffer>
    },
    send: (bytes: Buffer, start: number, end: number) => void,
  ) {
    this.srtp = new SrtpSession(o.keys)
    this.#payloadType = o.payloadType
    this.ssrc = o.ssrc
    this.#keep = o.keep
    this.received = o.received
    this.receivedRtcp = o.receivedRtcp
    this.#send = send
  }

  /** Sends one packet: an Opus packet unless another payload type is named. */
  send(payload: Uint8Array, fields: AudioFields = {}): void {
    const { payloadType = this.#payloadType, marker = false, ticks = 960 } = fields
    const out = this.#out
    const at = writeRtp(out, 0, payloadType, marker, this.sequence, this.timestamp, this.ssrc)
    out.set(payload, at)
    this.sequence = (this.sequence + 1) & 0xffff
    this.timestamp = (this.timestamp + ticks) >>> 0
    const end = this.srtp.protectRtp(out, 0, at + payload.length)
    if (end > 0) this.#send(out, 0, end)
  }

  /** Sends an RTCP compound, given in clear. */
  sendRtcp(compound: Uint8Array): void {
    const bytes = Buffer.alloc(compound.length + SRTP_OVERHEAD)
    bytes.set(compound)
    const end = this.srtp.protectRtcp(bytes, 0, compound.length)
    if (end > 0) this.#send(bytes, 0, end)
  }

  /** Takes an SRTP or SRTCP packet. */
  receive(bytes: Buffer, start: number, end: number): void {
    const isRtcp = bytes[start + 1]! >= 192 && bytes[start + 1]! <= 223
    const plain = isRtcp
      ? this.srtp.unprotectRtcp(bytes, start, end)
      : this.srtp.unprotectRtp(bytes, start, end)
    if (plain < 0) this.refused++
    else if (isRtcp) this.receivedRtcp.push(this.#keep ? Buffer.from(bytes.subarray(start, plain)) : EMPTY)
    else this.received.push(this.#keep ? this.#read(bytes, start, plain) : NOTHING)
  }

  close(): void {
    this.srtp.close()
  }

  #read(bytes: Buffer, start: number, end: number): ReceivedAudio {
    const header = this.#header
    if (!readRtp(bytes, start, end, header)) throw new Error('the server sent what is no RTP')
    const { payloadType, sequence, timestamp, marker, ssrc, payloadStart, payloadEnd } = header
    const payload = Buffer.from(bytes.subarray(payloadStart, payloadEnd))
    return { payload, payloadType, sequence, timestamp, marker, ssrc }
  }
}

const EMPTY = Buffer.alloc(0)
const NOTHING: ReceivedAudio = Object.freeze({
  payload: EMPTY,
  payloadType: 0,
  sequence: 0,
  timestamp: 0,
  marker: false,
  ssrc: 0,
})
