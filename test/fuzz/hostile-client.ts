/**
 * A caller with a valid session who uses it to send what is wrong further in: RTP and RTCP under good keys, SCTP under
 * good DTLS, checks with a good signature, events that are none. When its call ends over that, it calls again.
 */

import { IntegrityKey, SPP_LENGTH, STUN_HEADER_LENGTH, STUN_ROOM, type UdpPort } from '../../core/index.ts'
import type { Prng } from '../../core/testing/prng.ts'
import { appendFingerprint } from '../../core/wire/stun-integrity.ts'
import { writeRtp } from '../../plugins/transceiver/media/rtp.ts'
import { SRTP_OVERHEAD } from '../../plugins/transceiver/media/srtp.ts'
import { sctpChecksum } from '../../plugins/transceiver/peer/sctp-checksum.ts'
import { checkOf } from '../integration/support/stranger.ts'
import { TestClient } from '../peers/client.ts'
import { TELEPHONE_EVENT } from '../peers/offer.ts'
import type { Post } from '../peers/signaling.ts'
import type { Entrance } from './live-call.ts'
import { Mutator } from './mutator.ts'

/** Integrity and fingerprint at a check's end. */
const SIGNATURES = 24 + 8
const CHECKSUM = 8
const EVENTS = [
  '{"type":"note","n":1}',
  '[]',
  'null',
  '{}',
  '{"type":{}}',
  '{"type":"call.start"}',
  '{"__proto__":{"x":1},"type":"constructor"}',
  `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
  `${'['.repeat(5000)}`,
]

/** The caller. Close it. */
export class HostileClient implements AsyncDisposable {
  /** How many calls it has needed so far. */
  calls = 0
  readonly #post: Post
  readonly #random: Prng
  readonly #sctp: Buffer[] = []
  #client!: TestClient
  #over = false

  private constructor(post: Post, random: Prng) {
    this.#post = post
    this.#random = random
  }

  static async open(post: Post, random: Prng): Promise<HostileClient> {
    const hostile = new HostileClient(post, random)
    await hostile.#call()
    return hostile
  }

  /** Its ways in. `port` is the one that all of it comes by. */
  entrances(port: UdpPort): Entrance[] {
    const way = (name: string, good: readonly Buffer[], send: (bytes: Buffer) => unknown): Entrance => ({
      name,
      port,
      good,
      send: async (bytes) => {
        if (this.#over) await this.#call()
        return send(bytes)
      },
    })
    return [
      way('RTP', rtpPackets(), (bytes) => this.#sendMedia(bytes, false)),
      way('RTCP', rtcpPackets(), (bytes) => this.#sendMedia(bytes, true)),
      way('SCTP', this.#sctp, (bytes) => this.#sendSctp(bytes)),
      way('checks', [Buffer.from(this.#check())], (bytes) => this.#sendCheck(bytes)),
    ]
  }

  /** Sends `count` texts, most of which are no events, on a new call: nonsense may have stalled the present one's SCTP. */
  async sendTexts(count: number): Promise<void> {
    await this.#call()
    const texts = new Mutator(
      this.#random,
      EVENTS.map((text) => Buffer.from(text)),
    )
    for (let sent = 0; sent < count; ) {
      if (this.#over) await this.#call()
      if (this.#client.channels?.send(texts.next().toString('utf8'))) sent++
      else await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close()
  }

  async #call(): Promise<void> {
    await this.#client?.close()
    this.calls++
    const client = await TestClient.connect(this.#post, { keep: false })
    this.#client = client
    this.#over = false
    void client.ended.then(() => {
      if (client === this.#client) this.#over = true
    })
    const { dtls } = client.transport
    if (this.#sctp.length > 0 || !dtls) return
    const write = dtls.write.bind(dtls)
    dtls.write = (message) => {
      if (this.#sctp.length < 50) this.#sctp.push(Buffer.from(message))
      return write(message)
    }
    for (let n = 0; n < 20; n++) client.sendEvent({ type: 'note', text: 'x'.repeat(n * 100) })
    while (this.#sctp.length < 20 && !this.#over) await new Promise((resolve) => setTimeout(resolve, 1))
    dtls.write = write
  }

  #sendMedia(plain: Buffer, isRtcp: boolean): void {
    const { srtp } = this.#client.media!
    const bytes = Buffer.alloc(plain.length + SRTP_OVERHEAD)
    plain.copy(bytes)
    const end = isRtcp ? srtp.protectRtcp(bytes, 0, plain.length) : srtp.protectRtp(bytes, 0, plain.length)
    // What our own side will not protect goes as it is.
    this.#client.sendRaw(end > 0 ? bytes.subarray(0, end) : plain)
  }

  #sendSctp(packet: Buffer): void {
    if (packet.length > CHECKSUM + 4 && this.#random.chance(0.9)) {
      packet.writeUInt32LE(sctpChecksum(packet), CHECKSUM)
    }
    // An empty message is no DTLS record.
    if (packet.length === 0 || !this.#client.transport.dtls?.write(packet)) this.#client.sendRaw(packet)
  }

  #check(): Buffer {
    const { credentials, answer } = this.#client
    const check = checkOf({ local: credentials, remote: answer! })
    return check.subarray(0, check.length - SIGNATURES)
  }

  #sendCheck(bytes: Buffer): void {
    const out = Buffer.alloc(STUN_ROOM + 2 * SPP_LENGTH + bytes.length)
    bytes.copy(out)
    // Of its own session: the username is right more often than chance would have it.
    if (this.#random.chance(0.7)) this.#check().subarray(0, bytes.length).copy(out, 0, 0, 120)
    const key = new IntegrityKey(this.#client.answer!.pwd)
    const end = Math.max(STUN_HEADER_LENGTH, bytes.length & ~3)
    this.#client.sendRaw(out.subarray(0, appendFingerprint(out, 0, key.sign(out, 0, end))))
  }
}

function rtpPackets(): Buffer[] {
  return [0, 40, 120, 1000].flatMap((size, n) =>
    [111, TELEPHONE_EVENT].map((payloadType) => {
      const packet = Buffer.alloc(12 + size, 0xf8)
      writeRtp(packet, 0, payloadType, n === 0, 100 + n, n * 960, 7)
      if (n > 1) packet[0] = 0x80 | (n === 2 ? 0x10 : 0x22)
      return packet
    }),
  )
}

/** A sender's report with a block, a receiver's report, a name, a goodbye, feedback, and a compound of some. */
function rtcpPackets(): Buffer[] {
  const report = Buffer.from(
    '81c8000c00000007e0000000000000000000000000000001000000280000000800000000000000010000000000000000',
    'hex',
  )
  const receiver = Buffer.from('80c9000100000007', 'hex')
  const name = Buffer.from('81ca000300000007010378797a000000', 'hex')
  const bye = Buffer.from('81cb000100000007', 'hex')
  const feedback = Buffer.from('81ce00020000000700000008', 'hex')
  return [report, receiver, feedback, Buffer.concat([receiver, name]), Buffer.concat([report, name, bye])]
}
