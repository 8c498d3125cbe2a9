/**
 * SRTP and SRTCP of one session, both directions (RFC 3711, RFC 7714), in place on the caller's buffers.
 *
 * Promise: a packet that is short, oversized, malformed, replayed, too old or not authentic is answered with
 * -1, leaves its bytes as they were and changes nothing; windows and streams move only after authentication;
 * nothing throws. No index is ever used twice with one key.
 */

import { estimateIndex, rolloverOf } from './rtp-index.ts'
import { defaultEngine } from './srtp-engine.ts'
import { deriveSessionKeys, type SrtpKeys } from './srtp-keys.ts'
import { int32At, isRtcp, MAX_SRTP_PACKET, payloadOffset } from './srtp-packet.ts'
import { SrtpStreams } from './srtp-streams.ts'
import {
  type CounterCipher,
  CounterModeTransform,
  GcmTransform,
  type SrtpEngine,
  type Transform,
} from './srtp-transform.ts'

/** Bytes that must be free behind a packet that is to be protected: tag and, for RTCP, index. */
export const SRTP_OVERHEAD = 20

const RTCP_INDEX_BYTES = 4
const MAX_RTCP_INDEX = 0x7fffffff

/** Both directions of a session. Close it: its keys live in native memory. */
export class SrtpSession {
  /** Whether the last packet that was unprotected is the newest of its stream, not a late one. */
  newest = false
  readonly #tag: number
  readonly #rtpOut: Transform
  readonly #rtpIn: Transform
  readonly #rtcpOut: Transform
  readonly #rtcpIn: Transform
  readonly #sent = new SrtpStreams()
  readonly #received = new SrtpStreams()
  readonly #rtcpReceived = new SrtpStreams()
  #rtcpIndex = 0
  #closed = false

  constructor(keys: SrtpKeys, engine: SrtpEngine = defaultEngine()) {
    const { profile, localKey, localSalt, remoteKey, remoteSalt } = keys
    const make = (cipher: CounterCipher, salt: Buffer, kind: 'rtp' | 'rtcp', direction: 'seal' | 'open') => {
      const session = deriveSessionKeys(cipher, salt, kind)
      if (profile === 7) return new GcmTransform(engine, session, direction)
      return new CounterModeTransform(engine, session)
    }
    const local = engine.counter(localKey)
    const remote = engine.counter(remoteKey)
    this.#rtpOut = make(local, localSalt, 'rtp', 'seal')
    this.#rtpIn = make(remote, remoteSalt, 'rtp', 'open')
    this.#rtcpOut = make(local, localSalt, 'rtcp', 'seal')
    this.#rtcpIn = make(remote, remoteSalt, 'rtcp', 'open')
    local.close()
    remote.close()
    this.#tag = this.#rtpOut.tagLength
  }

  /**
   * Protects the RTP packet bytes[start, end), with SRTP_OVERHEAD bytes free behind it; the new end, or -1:
   * not RTP, no room, or a sequence number that was used already.
   */
  protectRtp(bytes: Uint8Array, start: number, end: number): number {
    const body = payloadOffset(bytes, start, end)
    if (this.#closed || body < 0 || !this.#fits(bytes, start, end + this.#tag)) return -1
    const ssrc = int32At(bytes, start + 8)
    const sequence = (bytes[start + 2]! << 8) | bytes[start + 3]!
    const index = estimateIndex(this.#sent.highest(ssrc), sequence)
    if (index < 0 || !this.#sent.isFresh(ssrc, index)) return -1
    this.#sent.accept(ssrc, index)
    return this.#rtpOut.protectRtp(bytes, start, body, end, rolloverOf(index)) ? end + this.#tag : -1
  }

  /** Authenticates and decrypts the SRTP packet bytes[start, end); the new end, or -1: drop it. */
  unprotectRtp(bytes: Uint8Array, start: number, end: number): number {
    const plainEnd = end - this.#tag
    const body = payloadOffset(bytes, start, plainEnd)
    if (this.#closed || body < 0 || !this.#fits(bytes, start, end)) return -1
    const ssrc = int32At(bytes, start + 8)
    const sequence = (bytes[start + 2]! << 8) | bytes[start + 3]!
    const index = estimateIndex(this.#received.highest(ssrc), sequence)
    if (index < 0 || !this.#received.isFresh(ssrc, index)) return -1
    if (!this.#rtpIn.unprotectRtp(bytes, start, body, plainEnd, rolloverOf(index))) return -1
    this.newest = this.#received.accept(ssrc, index)
    return plainEnd
  }

  /** Protects the compound RTCP packet bytes[start, end) like `protectRtp`. */
  protectRtcp(bytes: Uint8Array, start: number, end: number): number {
    const newEnd = end + this.#tag + RTCP_INDEX_BYTES
    if (this.#closed || !isRtcp(bytes, start, end) || !this.#fits(bytes, start, newEnd)) return -1
    if (this.#rtcpIndex > MAX_RTCP_INDEX) return -1
    // One counter for all SSRCs: each sees it rise, and no index comes twice.
    return this.#rtcpOut.protectRtcp(bytes, start, end, this.#rtcpIndex++) ? newEnd : -1
  }

  /** Authenticates and decrypts the SRTCP packet bytes[start, end); the new end, or -1: drop it. */
  unprotectRtcp(bytes: Uint8Array, start: number, end: number): number {
    const plainEnd = end - this.#tag - RTCP_INDEX_BYTES
    if (this.#closed || !isRtcp(bytes, start, plainEnd) || !this.#fits(bytes, start, end)) return -1
    const word = int32At(bytes, this.#tag === 16 ? end - RTCP_INDEX_BYTES : plainEnd)
    // The E bit: WebRTC encrypts all RTCP (RFC 8827 §6.5), so a packet in clear is none of its.
    if (word >= 0) return -1
    const index = word & MAX_RTCP_INDEX
    const ssrc = int32At(bytes, start + 4)
    if (!this.#rtcpReceived.isFresh(ssrc, index)) return -1
    if (!this.#rtcpIn.unprotectRtcp(bytes, start, plainEnd, index)) return -1
    this.newest = this.#rtcpReceived.accept(ssrc, index)
    return plainEnd
  }

  /** Frees the keys; every call answers -1 from here. Idempotent. */
  close(): void {
    this.#closed = true
    for (const one of [this.#rtpOut, this.#rtpIn, this.#rtcpOut, this.#rtcpIn]) one.close()
  }

  #fits(bytes: Uint8Array, start: number, end: number): boolean {
    return end <= bytes.length && end - start <= MAX_SRTP_PACKET
  }
}
