/** SRTP's master keys, and the session keys that follow from them (RFC 3711 §4.3, RFC 5764 §4.2). */

import { createCipheriv } from 'node:crypto'

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
const BLOCK = 16

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

/** The session keys of one direction for RTP or RTCP, with a key derivation rate of 0. */
export function deriveSessionKeys(masterKey: Buffer, masterSalt: Buffer, kind: 'rtp' | 'rtcp'): SessionKeys {
  const [cipher, authentication, salt] = kind === 'rtp' ? SRTP_LABELS : SRTCP_LABELS
  const blocks = Buffer.alloc(4 * BLOCK)
  writeCounter(blocks, 0, masterSalt, cipher, 0)
  writeCounter(blocks, BLOCK, masterSalt, authentication, 0)
  writeCounter(blocks, 2 * BLOCK, masterSalt, authentication, 1)
  writeCounter(blocks, 3 * BLOCK, masterSalt, salt, 0)
  // Counter mode's key stream is its counters encrypted one by one: all three labels cost one cipher, not three.
  const stream = createCipheriv('aes-128-ecb', masterKey, null).update(blocks)
  return {
    cipher: stream.subarray(0, 16),
    authentication: stream.subarray(BLOCK, BLOCK + 20),
    salt: stream.subarray(3 * BLOCK, 3 * BLOCK + masterSalt.length),
  }
}

/** Writes a label's counter block. RFC 7714 §11: a 12-byte salt is taken as 14 bytes with zeros behind. */
function writeCounter(blocks: Buffer, at: number, masterSalt: Buffer, label: number, counter: number): void {
  masterSalt.copy(blocks, at)
  blocks[at + 7]! ^= label
  blocks[at + 15] = counter
}
