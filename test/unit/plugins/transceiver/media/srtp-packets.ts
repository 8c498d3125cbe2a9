/** Keys and packets for the SRTP tests. */

import { createHash } from 'node:crypto'
import { SRTP_OVERHEAD } from '../../../../../plugins/transceiver/media/srtp.ts'
import type { SrtpKeys, SrtpProfile } from '../../../../../plugins/transceiver/media/srtp-keys.ts'

/** Bytes that follow from a name. */
export const bytesOf = (name: string, length: number) =>
  createHash('sha256').update(name).digest().subarray(0, length)

/** The keys of both ends. */
export function keysOf(profile: SrtpProfile): { client: SrtpKeys; server: SrtpKeys } {
  const salt = profile === 7 ? 12 : 14
  const a = { key: bytesOf('key a', 16), salt: bytesOf('salt a', salt) }
  const b = { key: bytesOf('key b', 16), salt: bytesOf('salt b', salt) }
  return {
    client: { profile, localKey: a.key, localSalt: a.salt, remoteKey: b.key, remoteSalt: b.salt },
    server: { profile, localKey: b.key, localSalt: b.salt, remoteKey: a.key, remoteSalt: a.salt },
  }
}

export interface RtpShape {
  ssrc?: number
  size?: number
  extensionWords?: number
}

/** A plain RTP packet with SRTP_OVERHEAD bytes behind it. */
export function rtp(sequence: number, { ssrc = 7, size = 80, extensionWords = -1 }: RtpShape = {}) {
  const header = extensionWords < 0 ? 12 : 16 + 4 * extensionWords
  const bytes = Buffer.alloc(header + size + SRTP_OVERHEAD)
  for (let i = header; i < header + size; i++) bytes[i] = (i * 31 + sequence) & 255
  bytes[0] = extensionWords < 0 ? 0x80 : 0x90
  bytes[1] = 111
  bytes.writeUInt16BE(sequence & 0xffff, 2)
  bytes.writeUInt32BE((sequence * 960) >>> 0, 4)
  bytes.writeUInt32BE(ssrc, 8)
  if (extensionWords >= 0) {
    bytes.writeUInt16BE(0xbede, 12)
    bytes.writeUInt16BE(extensionWords, 14)
  }
  return { bytes, end: header + size }
}

/** A plain RTCP packet likewise. */
export function rtcp(ssrc = 7, size = 52) {
  const bytes = Buffer.alloc(size + SRTP_OVERHEAD, 0x5a)
  bytes[0] = 0x81
  bytes[1] = 200
  bytes.writeUInt16BE(size / 4 - 1, 2)
  bytes.writeUInt32BE(ssrc, 4)
  return { bytes, end: size }
}
