/** The record keys of DTLS 1.2 with an AES_128_GCM_SHA256 suite (RFC 5246 §5, §6.3, RFC 5288 §3). Pure. */

import { createHmac } from 'node:crypto'
import type { DtlsRole, DtlsSecrets } from '../../../core/index.ts'

/** Keys of both directions; the owner wipes them. */
export interface RecordKeys {
  /** 16 bytes. */
  readonly localKey: Buffer
  readonly remoteKey: Buffer
  /** The four bytes in front of an explicit nonce, as an integer. */
  readonly localSalt: number
  readonly remoteSalt: number
}

const KEY = 16
const SALT = 4
const DIGEST = 32

/** `length` bytes of TLS 1.2's pseudorandom function with SHA-256 (RFC 5246 §5). */
export function pseudorandom(secret: Buffer, label: string, seed: Buffer, length: number): Buffer {
  const hmac = (...parts: Buffer[]): Buffer => {
    const mac = createHmac('sha256', secret)
    for (const part of parts) mac.update(part)
    return mac.digest()
  }
  const whole = Buffer.concat([Buffer.from(label), seed])
  const out = Buffer.alloc(length)
  let link: Buffer = whole
  for (let at = 0; at < length; at += DIGEST) {
    link = hmac(link)
    hmac(link, whole).copy(out, at)
  }
  return out
}

/** The keys that follow from a handshake's secrets: no MAC keys, two cipher keys, two salts, the client's first. */
export function deriveRecordKeys(secrets: DtlsSecrets, role: DtlsRole): RecordKeys {
  const { master, clientRandom, serverRandom } = secrets
  const seed = Buffer.concat([serverRandom, clientRandom])
  const block = pseudorandom(master, 'key expansion', seed, 2 * (KEY + SALT))
  const client = { key: block.subarray(0, KEY), salt: block.readUInt32BE(2 * KEY) }
  const server = { key: block.subarray(KEY, 2 * KEY), salt: block.readUInt32BE(2 * KEY + SALT) }
  const [local, remote] = role === 'client' ? [client, server] : [server, client]
  return { localKey: local.key, localSalt: local.salt, remoteKey: remote.key, remoteSalt: remote.salt }
}
