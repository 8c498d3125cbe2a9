/**
 * SRTP's two transforms over whatever does the cryptography: AEAD_AES_128_GCM (RFC 7714) and
 * AES128_CM_HMAC_SHA1_80 (RFC 3711 §4.1.1, §4.2.1). They know packets and indexes, but no streams and no replay.
 *
 * Promise: nothing is allocated per packet, and a packet that is refused is as it was.
 */

import type { SessionKeys } from './srtp-keys.ts'
import { int32At, writeInt32 } from './srtp-packet.ts'

/** AES-128-GCM in place; see core's Aes128Gcm for the meaning of the offsets. */
export interface Aead {
  readonly iv: Uint8Array
  seal(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean
  open(bytes: Uint8Array, start: number, body: number, end: number, trailer: number): boolean
  close(): void
}

/** AES-128-CTR in place. */
export interface CounterCipher {
  readonly iv: Uint8Array
  apply(bytes: Uint8Array, start: number, end: number): boolean
  close(): void
}

/** HMAC-SHA1 cut to 10 bytes, over bytes[start, end) and, unless it is -1, a 32-bit suffix. */
export interface Mac {
  sign(bytes: Uint8Array, start: number, end: number, suffix: number, at: number): boolean
  verify(bytes: Uint8Array, start: number, end: number, suffix: number, at: number): boolean
  close(): void
}

/** Where the cryptography comes from. */
export interface SrtpEngine {
  aead(key: Uint8Array, direction: 'seal' | 'open'): Aead
  counter(key: Uint8Array): CounterCipher
  mac(key: Uint8Array): Mac
}

/** One direction of RTP or of RTCP. `end` is that of the plain packet: the tag lies behind it. */
export interface Transform {
  /** Bytes of a tag. */
  readonly tagLength: number
  protectRtp(bytes: Uint8Array, start: number, body: number, end: number, rollover: number): boolean
  unprotectRtp(bytes: Uint8Array, start: number, body: number, end: number, rollover: number): boolean
  /** Writes the index, with its E bit, as well; 4 more bytes. */
  protectRtcp(bytes: Uint8Array, start: number, end: number, index: number): boolean
  unprotectRtcp(bytes: Uint8Array, start: number, end: number, index: number): boolean
  close(): void
}

/** RTCP's header and SSRC, which stay in clear. */
const RTCP_CLEAR = 8
const ENCRYPTED = 0x80000000

/** AEAD_AES_128_GCM: tag, then (RTCP) the index. */
export class GcmTransform implements Transform {
  readonly tagLength = 16
  readonly #aead: Aead
  readonly #salt: Buffer

  constructor(engine: SrtpEngine, keys: SessionKeys, direction: 'seal' | 'open') {
    this.#aead = engine.aead(keys.cipher, direction)
    this.#salt = keys.salt
  }

  protectRtp(bytes: Uint8Array, start: number, body: number, end: number, rollover: number): boolean {
    this.#rtpVector(bytes, start, rollover)
    return this.#aead.seal(bytes, start, body, end, -1)
  }

  unprotectRtp(bytes: Uint8Array, start: number, body: number, end: number, rollover: number): boolean {
    this.#rtpVector(bytes, start, rollover)
    return this.#aead.open(bytes, start, body, end, -1)
  }

  protectRtcp(bytes: Uint8Array, start: number, end: number, index: number): boolean {
    const trailer = end + this.tagLength
    writeInt32(bytes, trailer, index + ENCRYPTED)
    this.#vector(int32At(bytes, start + 4), 0, index)
    return this.#aead.seal(bytes, start, start + RTCP_CLEAR, end, trailer)
  }

  unprotectRtcp(bytes: Uint8Array, start: number, end: number, index: number): boolean {
    this.#vector(int32At(bytes, start + 4), 0, index)
    return this.#aead.open(bytes, start, start + RTCP_CLEAR, end, end + this.tagLength)
  }

  close(): void {
    this.#aead.close()
  }

  /** RFC 7714 §8.1: SSRC, rollover counter and sequence number behind two zeros, XOR the salt. */
  #rtpVector(bytes: Uint8Array, start: number, rollover: number): void {
    const low = (rollover << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!
    this.#vector(int32At(bytes, start + 8), rollover >>> 16, low)
  }

  /** RFC 7714 §9.1: for RTCP the 48 bits are 17 zeros and the index. */
  #vector(ssrc: number, high: number, low: number): void {
    const iv = this.#aead.iv
    const salt = this.#salt
    iv[0] = salt[0]!
    iv[1] = salt[1]!
    writeInt32(iv, 2, int32At(salt, 2) ^ ssrc)
    iv[6] = salt[6]! ^ (high >>> 8)
    iv[7] = salt[7]! ^ high
    writeInt32(iv, 8, int32At(salt, 8) ^ low)
  }
}

/** AES128_CM_HMAC_SHA1_80: (RTCP) the index, then the tag. */
export class CounterModeTransform implements Transform {
  readonly tagLength = 10
  readonly #cipher: CounterCipher
  readonly #mac: Mac
  readonly #salt: Buffer

  constructor(engine: SrtpEngine, keys: SessionKeys) {
    this.#cipher = engine.counter(keys.cipher)
    this.#mac = engine.mac(keys.authentication)
    this.#salt = keys.salt
  }

  protectRtp(bytes: Uint8Array, start: number, body: number, end: number, rollover: number): boolean {
    this.#rtpVector(bytes, start, rollover)
    return this.#cipher.apply(bytes, body, end) && this.#mac.sign(bytes, start, end, rollover, end)
  }

  unprotectRtp(bytes: Uint8Array, start: number, body: number, end: number, rollover: number): boolean {
    if (!this.#mac.verify(bytes, start, end, rollover, end)) return false
    this.#rtpVector(bytes, start, rollover)
    return this.#cipher.apply(bytes, body, end)
  }

  protectRtcp(bytes: Uint8Array, start: number, end: number, index: number): boolean {
    writeInt32(bytes, end, index + ENCRYPTED)
    this.#vector(int32At(bytes, start + 4), index >>> 16, index)
    return (
      this.#cipher.apply(bytes, start + RTCP_CLEAR, end) && this.#mac.sign(bytes, start, end + 4, -1, end + 4)
    )
  }

  unprotectRtcp(bytes: Uint8Array, start: number, end: number, index: number): boolean {
    if (!this.#mac.verify(bytes, start, end + 4, -1, end + 4)) return false
    this.#vector(int32At(bytes, start + 4), index >>> 16, index)
    return this.#cipher.apply(bytes, start + RTCP_CLEAR, end)
  }

  close(): void {
    this.#cipher.close()
    this.#mac.close()
  }

  #rtpVector(bytes: Uint8Array, start: number, rollover: number): void {
    const sequence = (bytes[start + 2]! << 8) | bytes[start + 3]!
    this.#vector(int32At(bytes, start + 8), rollover, sequence)
  }

  /** RFC 3711 §4.1.1: (salt · 2^16) XOR (SSRC · 2^64) XOR (index · 2^16); index = high · 2^16 + low. */
  #vector(ssrc: number, high: number, low: number): void {
    const iv = this.#cipher.iv
    const salt = this.#salt
    writeInt32(iv, 0, int32At(salt, 0))
    writeInt32(iv, 4, int32At(salt, 4) ^ ssrc)
    writeInt32(iv, 8, int32At(salt, 8) ^ high)
    iv[12] = salt[12]! ^ (low >>> 8)
    iv[13] = salt[13]! ^ low
    iv[14] = 0
    iv[15] = 0
  }
}
