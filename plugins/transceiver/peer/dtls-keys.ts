/** The record keys of DTLS 1.2 with an AES_128_GCM_SHA256 suite (RFC 5246 §6.3, RFC 5288 §3). */

import { type DtlsRole, type DtlsSecrets, pseudorandom } from '../../../core/index.ts'

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
