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

const SRTP_LABELS = { cipher: 0, authentication: 1, salt: 2 }
const SRTCP_LABELS = { cipher: 3, authentication: 4, salt: 5 }

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
  const labels = kind === 'rtp' ? SRTP_LABELS : SRTCP_LABELS
  return {
    cipher: derive(masterKey, masterSalt, labels.cipher, 16),
    authentication: derive(masterKey, masterSalt, labels.authentication, 20),
    salt: derive(masterKey, masterSalt, labels.salt, masterSalt.length),
  }
}

function derive(masterKey: Buffer, masterSalt: Buffer, label: number, length: number): Buffer {
  const vector = Buffer.alloc(16)
  // RFC 7714 §11: a 12-byte salt is taken as 14 bytes with zeros behind, so the label's place is the same.
  masterSalt.copy(vector)
  vector[7] = vector[7]! ^ label
  return createCipheriv('aes-128-ctr', masterKey, vector).update(Buffer.alloc(length))
}
