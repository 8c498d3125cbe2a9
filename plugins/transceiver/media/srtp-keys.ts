/** SRTP's master keys, and the session keys that follow from them (RFC 3711 §4.3, RFC 5764 §4.2). Pure. */

import type { CounterCipher } from './srtp-transform.ts'

/** SRTP protection profiles (RFC 5764 §4.1.2, RFC 7714 §14.2): AES128_CM_HMAC_SHA1_80 and AEAD_AES_128_GCM. */
export type SrtpProfile = 1 | 7

/** What a DTLS handshake leaves for SRTP. `local` protects what we send, `remote` what we receive. */
export interface SrtpKeys {
  readonly profile: SrtpProfile
  /** 16 bytes. */
  readonly localKey: Buffer
  /** 12 bytes in profile 7, 14 in profile 1. */
  readonly localSalt: Buffer
  readonly remoteKey: Buffer
  readonly remoteSalt: Buffer
}

/** Keys of one direction, for RTP or for RTCP. */
export interface SessionKeys {
  /** 16 bytes. */
  readonly cipher: Buffer
  /** 20 bytes; profile 7 does not use it. */
  readonly authentication: Buffer
  /** As long as the master salt. */
  readonly salt: Buffer
}

/** The labels of cipher key, authentication key and salt. */
const SRTP_LABELS = [0, 1, 2] as const
const SRTCP_LABELS = [3, 4, 5] as const

/** A master salt's length in bytes. */
export function saltLength(profile: SrtpProfile): number {
  return profile === 7 ? 12 : 14
}

/** Splits 2 · (16 + salt) bytes of keying material: both keys, then both salts, the client's first. */
export function splitKeyingMaterial(
  profile: SrtpProfile,
  material: Buffer,
  role: 'server' | 'client',
): SrtpKeys {
  const salt = saltLength(profile)
  const client = { key: material.subarray(0, 16), salt: material.subarray(32, 32 + salt) }
  const server = { key: material.subarray(16, 32), salt: material.subarray(32 + salt, 32 + 2 * salt) }
  const [local, remote] = role === 'client' ? [client, server] : [server, client]
  return {
    profile,
    localKey: local.key,
    localSalt: local.salt,
    remoteKey: remote.key,
    remoteSalt: remote.salt,
  }
}

/**
 * The session keys of one direction for RTP or RTCP, with a key derivation rate of 0. `cipher` is AES in counter mode
 * under the master key.
 */
export function deriveSessionKeys(
  cipher: CounterCipher,
  masterSalt: Buffer,
  kind: 'rtp' | 'rtcp',
): SessionKeys {
  const [encryption, authentication, salt] = kind === 'rtp' ? SRTP_LABELS : SRTCP_LABELS
  const stream = (label: number, length: number): Buffer => {
    writeVector(cipher.iv, masterSalt, label)
    const bytes = Buffer.allocUnsafe(length).fill(0)
    cipher.apply(bytes, 0, length)
    return bytes
  }
  return {
    cipher: stream(encryption, 16),
    authentication: stream(authentication, 20),
    salt: stream(salt, masterSalt.length),
  }
}

/** Writes a label's first counter block. RFC 7714 §11: a 12-byte salt is taken as 14 bytes with zeros behind. */
function writeVector(iv: Uint8Array, masterSalt: Buffer, label: number): void {
  iv.fill(0)
  iv.set(masterSalt)
  iv[7]! ^= label
}
