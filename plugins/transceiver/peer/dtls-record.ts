/** Where the fields of a DTLS 1.2 record lie (RFC 6347 §4.1, RFC 5288 §3). Pure. */

/** Bytes of a record's header. */
export const RECORD_HEADER = 13
/** Bytes of the explicit nonce in front of a record's ciphertext, and of the tag behind it, with AES-GCM. */
export const EXPLICIT_NONCE = 8
export const RECORD_TAG = 16
/** What a record is longer by than its message. */
export const RECORD_OVERHEAD = RECORD_HEADER + EXPLICIT_NONCE + RECORD_TAG

/** Content types. */
export const ALERT = 21
export const APPLICATION_DATA = 23

/** The highest sequence number of an epoch. */
export const MAX_SEQUENCE = 2 ** 48 - 1

/** Where the record at `at`, whose header is there, ends. */
export function recordEnd(bytes: Uint8Array, at: number): number {
  return at + RECORD_HEADER + ((bytes[at + 11]! << 8) | bytes[at + 12]!)
}

/** The epoch of the record at `at`: 0 in clear, 1 under the keys of the first handshake. */
export function epochOf(bytes: Uint8Array, at: number): number {
  return (bytes[at + 3]! << 8) | bytes[at + 4]!
}

/** Its sequence number, of 48 bits. */
export function sequenceOf(bytes: Uint8Array, at: number): number {
  return ((bytes[at + 5]! << 8) | bytes[at + 6]!) * 2 ** 32 + uint32(bytes, at + 7)
}

/** Gives it that sequence number. */
export function writeSequence(bytes: Buffer, at: number, sequence: number): void {
  bytes.writeUIntBE(sequence, at + 5, 6)
}

/** Whether it carries an encrypted message. */
export function isMessage(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === APPLICATION_DATA && epochOf(bytes, at) !== 0
}

/** Four bytes as a number from 0 to 2^32 - 1. */
export function uint32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}
