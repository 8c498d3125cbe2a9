/** Makes a broken datagram whole enough to be looked into: lengths that fit, and STUN's fingerprint. Pure. */

import { crc32 } from 'node:zlib'
import { packetKind, SPP_LENGTH } from '../../core/index.ts'

const STUN_HEADER = 20
const FINGERPRINT = 0x8028
const FINGERPRINT_LENGTH = 8
const FINGERPRINT_XOR = 0x5354554e
const DTLS_HEADER = 13

/** What a datagram is, framed or not: `stun`, `framing dtls`, … */
export function kindOf(bytes: Buffer): string {
  const kind = bytes.length === 0 ? 'unknown' : packetKind(bytes[0]!)
  if (kind !== 'framing' || bytes.length <= SPP_LENGTH) return kind
  return `framing ${packetKind(bytes[SPP_LENGTH]!)}`
}

/** The same with its lengths put right, where it is STUN or DTLS; it may grow by a fingerprint. */
export function mend(bytes: Buffer): Buffer {
  const framed = bytes.length > SPP_LENGTH && packetKind(bytes[0]!) === 'framing'
  const at = framed ? SPP_LENGTH : 0
  const payload = bytes.subarray(at)
  if (payload.length < STUN_HEADER) return bytes
  const kind = packetKind(payload[0]!)
  if (kind === 'dtls') payload.writeUInt16BE(payload.length - DTLS_HEADER, DTLS_HEADER - 2)
  if (kind !== 'stun') return bytes
  return Buffer.concat([bytes.subarray(0, at), mendStun(payload)])
}

function mendStun(payload: Buffer): Buffer {
  let end = payload.length & ~3
  const last = end - FINGERPRINT_LENGTH
  if (last >= STUN_HEADER && payload.readUInt16BE(last) === FINGERPRINT) end = last
  const whole = Buffer.concat([payload.subarray(0, end), Buffer.alloc(FINGERPRINT_LENGTH)])
  whole.writeUInt16BE(whole.length - STUN_HEADER, 2)
  whole.writeUInt16BE(FINGERPRINT, end)
  whole.writeUInt16BE(4, end + 2)
  whole.writeUInt32BE((crc32(whole.subarray(0, end)) ^ FINGERPRINT_XOR) >>> 0, end + 4)
  return whole
}
