/**
 * Reads a whole STUN message as an ICE agent needs it (RFC 8489, RFC 8445 §7). Any bytes may come in: it never
 * throws, never reads outside [start, end), and keeps offsets instead of making objects. Pure.
 */

import { Address } from './address.ts'
import { STUN_HEADER_LENGTH } from './stun.ts'
import { MAGIC_COOKIE, readXorAddress, StunAttribute } from './stun-attributes.ts'
import { INTEGRITY_LENGTH, type IntegrityKey, verifyFingerprint } from './stun-integrity.ts'

/** How many unknown attributes are listed; more are not worth an answer that names them. */
export const UNKNOWN_LISTED = 16

/** What a parse found: `bad_fingerprint` is a whole message whose FINGERPRINT does not match. */
export type StunParse = 'ok' | 'malformed' | 'bad_fingerprint'

/** One message, reused: the fields hold until the next `parse`, and after `'ok'` only. */
export class StunMessage {
  bytes: Buffer = Buffer.alloc(0)
  start = 0
  end = 0
  /** Method and class in one, as STUN_BINDING_REQUEST and its siblings are. */
  type = 0
  /** Where the first USERNAME's value begins, or -1. */
  usernameAt = -1
  usernameLength = 0
  /** PRIORITY, or -1 when absent. */
  priority = -1
  useCandidate = false
  /** The sender claims the controlled role. */
  controlled = false
  controlling = false
  /** Where MESSAGE-INTEGRITY begins, or -1. What came behind it was not read, but for FINGERPRINT. */
  integrityAt = -1
  fingerprintAt = -1
  /** XOR-MAPPED-ADDRESS; meaningful when `hasMapped`. */
  readonly mapped = new Address()
  hasMapped = false
  /** 300 to 699, or 0 when there is no ERROR-CODE. */
  errorCode = 0
  /** Attributes that must be comprehended and are not: the first `unknownCount` entries, in order. */
  readonly unknown = new Uint16Array(UNKNOWN_LISTED)
  unknownCount = 0

  /** Reads bytes[start, end), which must be one whole datagram. */
  parse(bytes: Buffer, start: number, end: number): StunParse {
    this.#reset(bytes, start, end)
    if (!isWhole(bytes, start, end)) return 'malformed'
    this.type = bytes.readUInt16BE(start)
    for (let at = start + STUN_HEADER_LENGTH; at < end; ) {
      const length = bytes.readUInt16BE(at + 2)
      const next = at + 4 + ((length + 3) & ~3)
      if (next > end || this.fingerprintAt >= 0) return 'malformed'
      if (!this.#attribute(bytes.readUInt16BE(at), at, length)) return 'malformed'
      at = next
    }
    if (this.fingerprintAt >= 0 && !verifyFingerprint(bytes, start, this.fingerprintAt)) {
      return 'bad_fingerprint'
    }
    return 'ok'
  }

  /** Where the 12 bytes of the transaction id begin. */
  get transactionAt(): number {
    return this.start + 8
  }

  /** Whether there is a USERNAME, equal to `expected` byte for byte. */
  hasUsername(expected: Uint8Array): boolean {
    if (this.usernameAt < 0 || this.usernameLength !== expected.length) return false
    for (let i = 0; i < expected.length; i++) {
      if (this.bytes[this.usernameAt + i] !== expected[i]) return false
    }
    return true
  }

  /** Whether there is a MESSAGE-INTEGRITY and it is right under `key`. */
  hasIntegrity(key: IntegrityKey): boolean {
    return this.integrityAt >= 0 && key.verify(this.bytes, this.start, this.integrityAt)
  }

  #reset(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.type = 0
    this.usernameAt = -1
    this.usernameLength = 0
    this.priority = -1
    this.useCandidate = false
    this.controlled = false
    this.controlling = false
    this.integrityAt = -1
    this.fingerprintAt = -1
    this.hasMapped = false
    this.errorCode = 0
    this.unknownCount = 0
  }

  /** Takes one attribute in; false when its value cannot be. Of equal ones the first counts (RFC 8489 §14). */
  #attribute(type: number, at: number, length: number): boolean {
    if (type === StunAttribute.fingerprint) {
      this.fingerprintAt = at
      return length === 4
    }
    if (this.integrityAt >= 0) return true
    switch (type) {
      case StunAttribute.username:
        if (this.usernameAt < 0) {
          this.usernameAt = at + 4
          this.usernameLength = length
        }
        return true
      case StunAttribute.messageIntegrity:
        this.integrityAt = at
        return length === INTEGRITY_LENGTH - 4
      case StunAttribute.priority:
        if (length !== 4) return false
        if (this.priority < 0) this.priority = this.bytes.readUInt32BE(at + 4)
        return true
      case StunAttribute.useCandidate:
        this.useCandidate = true
        return length === 0
      case StunAttribute.iceControlled:
        this.controlled = true
        return length === 8
      case StunAttribute.iceControlling:
        this.controlling = true
        return length === 8
      case StunAttribute.xorMappedAddress:
        if (!this.hasMapped) {
          this.hasMapped = readXorAddress(this.bytes, this.start, at + 4, length, this.mapped)
        }
        return this.hasMapped
      case StunAttribute.errorCode:
        return this.#errorCode(at + 4, length)
      default:
        this.#unknown(type)
        return true
    }
  }

  #errorCode(at: number, length: number): boolean {
    if (length < 4) return false
    const hundreds = this.bytes[at + 2]! & 7
    const rest = this.bytes[at + 3]!
    if (hundreds < 3 || hundreds > 6 || rest > 99) return false
    if (this.errorCode === 0) this.errorCode = hundreds * 100 + rest
    return true
  }

  #unknown(type: number): void {
    if (type >= 0x8000 || this.unknownCount === UNKNOWN_LISTED) return
    switch (type) {
      case StunAttribute.mappedAddress:
      case StunAttribute.unknownAttributes:
      case StunAttribute.realm:
      case StunAttribute.nonce:
        return
    }
    for (let i = 0; i < this.unknownCount; i++) if (this.unknown[i] === type) return
    this.unknown[this.unknownCount++] = type
  }
}

function isWhole(bytes: Buffer, start: number, end: number): boolean {
  if (start < 0 || end > bytes.length || end - start < STUN_HEADER_LENGTH) return false
  if (bytes[start]! > 3 || bytes.readUInt32BE(start + 4) !== MAGIC_COOKIE) return false
  const length = bytes.readUInt16BE(start + 2)
  return (length & 3) === 0 && start + STUN_HEADER_LENGTH + length === end
}
