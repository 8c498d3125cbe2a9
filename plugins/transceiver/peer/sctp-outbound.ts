/**
 * SCTP packets on their way out (RFC 9260 §6.10): while an incoming packet is worked on, what answers it is held, and then
 * leaves in as few packets as it fits: an acknowledgement with the data that it caused. werift sends each chunk by itself.
 *
 * Promise: no packet is over the MTU, chunks keep their order but for SACK and COOKIE ACK in front of DATA, and chunks that
 * must or had better travel alone do. No timer: what is held leaves with `release`.
 */

import { sctpChecksum } from './sctp-checksum.ts'
import { CHUNK } from './sctp-guard.ts'

/** A chunk as werift makes it. */
export interface OutboundChunk {
  readonly type: number
  /** Header and padding included. */
  readonly bytes: Buffer
}

/** Where packets go. */
export interface SctpOutboundOptions {
  readonly localPort: number
  readonly remotePort: number
  /** The longest packet, in bytes. */
  readonly mtu: number
  /** The packet is the callee's to keep. */
  send(packet: Buffer): void
  /** A chunk is too long for any packet: `packet_too_large`. */
  onFault(reason: string): void
}

const HEADER = 12
const BUNDLED: ReadonlySet<number> = new Set([CHUNK.data, CHUNK.sack, CHUNK.cookieAck])

/** One association's way out. */
export class SctpOutbound {
  readonly #o: SctpOutboundOptions
  #chunks: Buffer[] = []
  /** How many of them are no DATA. */
  #controls = 0
  #length = HEADER
  #tag = 0
  #isHolding = false

  constructor(options: SctpOutboundOptions) {
    this.#o = options
  }

  /** Holds what is sent from now on. */
  hold(): void {
    this.#isHolding = true
  }

  /** Sends what was held, and holds no more. */
  release(): void {
    this.#isHolding = false
    this.#flush()
  }

  /** Sends a chunk under the peer's verification tag, or holds it. */
  send({ type, bytes }: OutboundChunk, tag: number): void {
    const alone = !BUNDLED.has(type) || bytes.length % 4 !== 0
    if (alone || tag !== this.#tag || this.#length + bytes.length > this.#o.mtu) this.#flush()
    if (HEADER + bytes.length > this.#o.mtu) {
      this.#o.onFault('packet_too_large')
      return
    }
    this.#tag = tag
    this.#length += bytes.length
    if (type === CHUNK.data) this.#chunks.push(bytes)
    else this.#chunks.splice(this.#controls++, 0, bytes)
    if (alone || !this.#isHolding) this.#flush()
  }

  #flush(): void {
    if (this.#chunks.length === 0) return
    const packet = Buffer.allocUnsafe(this.#length)
    packet.writeUInt16BE(this.#o.localPort, 0)
    packet.writeUInt16BE(this.#o.remotePort, 2)
    packet.writeUInt32BE(this.#tag, 4)
    let at = HEADER
    for (const chunk of this.#chunks) at += chunk.copy(packet, at)
    packet.writeUInt32LE(sctpChecksum(packet), 8)
    this.#chunks = []
    this.#controls = 0
    this.#length = HEADER
    this.#o.send(packet)
  }
}
