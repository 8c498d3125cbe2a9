/**
 * The STUN numbers an ICE agent needs, and the one attribute whose value is coded: XOR-MAPPED-ADDRESS
 * (RFC 8489 §14.2). Pure.
 */

import type { Address } from './address.ts'

/** The fixed word of every STUN header (RFC 8489 §5). */
export const MAGIC_COOKIE = 0x2112a442

/** Bytes of a transaction id, which stands at offset 8 of the header. */
export const TRANSACTION_ID = 12

/** Attribute types (RFC 8489 §18.3, RFC 8445 §16.1). Below 0x8000 the receiver must comprehend them. */
export const StunAttribute = {
  mappedAddress: 0x0001,
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  unknownAttributes: 0x000a,
  realm: 0x0014,
  nonce: 0x0015,
  xorMappedAddress: 0x0020,
  priority: 0x0024,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
  iceControlled: 0x8029,
  iceControlling: 0x802a,
} as const

const IPV4 = 1
const IPV6 = 2

/**
 * Reads the value of an XOR-MAPPED-ADDRESS at bytes[at, at + length) of the message that begins at `start`.
 * False, and `into` unchanged, when family or length are wrong.
 */
export function readXorAddress(
  bytes: Buffer,
  start: number,
  at: number,
  length: number,
  into: Address,
): boolean {
  if (length < 8) return false
  const port = bytes.readUInt16BE(at + 2) ^ (MAGIC_COOKIE >>> 16)
  const first = bytes.readInt32BE(at + 4) ^ MAGIC_COOKIE
  if (bytes[at + 1] === IPV4 && length === 8) {
    into.set(0, 0, 0xffff, first, port)
    return true
  }
  if (bytes[at + 1] !== IPV6 || length !== 20) return false
  into.set(
    first,
    bytes.readInt32BE(at + 8) ^ bytes.readInt32BE(start + 8),
    bytes.readInt32BE(at + 12) ^ bytes.readInt32BE(start + 12),
    bytes.readInt32BE(at + 16) ^ bytes.readInt32BE(start + 16),
    port,
  )
  return true
}

/** Bytes that the value of an XOR-MAPPED-ADDRESS for `address` takes. */
export function xorAddressLength(address: Address): number {
  return address.isIPv4 ? 8 : 20
}

/** Writes that value at `at`; cookie and transaction id of the message at `start` must stand already. */
export function writeXorAddress(bytes: Buffer, start: number, at: number, address: Address): void {
  bytes[at] = 0
  bytes[at + 1] = address.isIPv4 ? IPV4 : IPV6
  bytes.writeUInt16BE(address.port ^ (MAGIC_COOKIE >>> 16), at + 2)
  if (address.isIPv4) {
    bytes.writeInt32BE(address.w3 ^ MAGIC_COOKIE, at + 4)
    return
  }
  bytes.writeInt32BE(address.w0 ^ MAGIC_COOKIE, at + 4)
  bytes.writeInt32BE(address.w1 ^ bytes.readInt32BE(start + 8), at + 8)
  bytes.writeInt32BE(address.w2 ^ bytes.readInt32BE(start + 12), at + 12)
  bytes.writeInt32BE(address.w3 ^ bytes.readInt32BE(start + 16), at + 16)
}
