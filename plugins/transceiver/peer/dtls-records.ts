/**
 * DTLS 1.2 records after the handshake: messages and alerts of epoch 1 under AES-128-GCM (RFC 5288, RFC 6347 §4.1).
 * It takes over from OpenSSL, which needs 85 KB to go on with the same.
 *
 * Promise: no nonce is used twice, nothing that is not authentic is given out, nothing throws, and what is neither a
 * message nor an alert is passed over: there is no second handshake. Replays are the caller's to turn away.
 */

import { Aes128Gcm, type DtlsConnection, type DtlsRole } from '../../../core/index.ts'
import { MAX_DTLS_DATAGRAM } from './dtls-filter.ts'
import { deriveRecordKeys, type RecordKeys } from './dtls-keys.ts'
import {
  ALERT,
  APPLICATION_DATA,
  EXPLICIT_NONCE,
  epochOf,
  MAX_SEQUENCE,
  RECORD_HEADER,
  RECORD_OVERHEAD,
  RECORD_TAG,
  recordEnd,
} from './dtls-record.ts'
import type { WritePosition } from './dtls-sent.ts'

/** Who reads and writes records: OpenSSL's connection, and then this. Meanings as there. */
export interface RecordLayer {
  /** Why `read` said `failed`. */
  readonly reason: string
  input(bytes: Buffer, start: number, end: number): boolean
  read(): Buffer | 'waiting' | 'closed' | 'failed'
  write(message: Uint8Array): boolean
  shutdown(): void
  takeOutput(): Buffer[]
  close(): void
}

const EPOCH = 1
const VERSION = 0xfefd
/** Sequence number with epoch, type, version, and the message's length (RFC 5246 §6.2.3.3). */
const ADDITIONAL = 13
const WARNING = 1
const FATAL = 2
const CLOSE_NOTIFY = 0

/** Additional data, message and tag of the record in work. */
const scratch = Buffer.alloc(ADDITIONAL + MAX_DTLS_DATAGRAM + RECORD_TAG)

/** Both directions of a connection. Close it. */
export class DtlsRecords implements RecordLayer {
  reason = ''
  readonly #open: Aes128Gcm
  readonly #seal: Aes128Gcm
  readonly #localSalt: number
  readonly #remoteSalt: number
  #sequence: number
  #nonceHigh: number
  #nonceLow: number
  #arrived: Buffer | 'waiting' | 'closed' | 'failed' = 'waiting'
  #output: Buffer[] = []

  /** Writes from `position` on. The keys are copied. */
  constructor(keys: RecordKeys, position: WritePosition) {
    this.#open = new Aes128Gcm(keys.remoteKey, 'open')
    this.#seal = new Aes128Gcm(keys.localKey, 'seal')
    this.#localSalt = keys.localSalt
    this.#remoteSalt = keys.remoteSalt
    this.#sequence = position.sequence
    this.#nonceHigh = position.nonceHigh
    this.#nonceLow = position.nonceLow
  }

  /** Takes one record, bytes[start, end); true if it was authentic. The bytes stay as they are. */
  input(bytes: Buffer, start: number, end: number): boolean {
    this.#arrived = 'waiting'
    if (start < 0 || end > bytes.length || end - start < RECORD_OVERHEAD) return false
    const type = bytes[start]!
    const length = end - start - RECORD_OVERHEAD
    if (type !== APPLICATION_DATA && type !== ALERT) return false
    if (epochOf(bytes, start) !== EPOCH || recordEnd(bytes, start) !== end) return false
    if (length > MAX_DTLS_DATAGRAM) return false
    const body = start + RECORD_HEADER
    const { iv } = this.#open
    iv.writeUInt32BE(this.#remoteSalt)
    bytes.copy(iv, 4, body, body + EXPLICIT_NONCE)
    bytes.copy(scratch, 0, start + 3, start + 11)
    bytes.copy(scratch, 8, start, start + 3)
    scratch.writeUInt16BE(length, 11)
    bytes.copy(scratch, ADDITIONAL, body + EXPLICIT_NONCE, end)
    if (!this.#open.open(scratch, 0, ADDITIONAL, ADDITIONAL + length, -1)) return false
    if (type === ALERT) this.#hearAlert(length)
    else if (length > 0) this.#arrived = Buffer.from(scratch.subarray(ADDITIONAL, ADDITIONAL + length))
    return true
  }

  /** What the last record brought, once. */
  read(): Buffer | 'waiting' | 'closed' | 'failed' {
    const arrived = this.#arrived
    this.#arrived = 'waiting'
    return arrived
  }

  /** Encrypts a message as one record; false if it cannot be sent. */
  write(message: Uint8Array): boolean {
    return message.length > 0 && this.#write(APPLICATION_DATA, message)
  }

  /** Queues a close_notify. */
  shutdown(): void {
    this.#write(ALERT, Buffer.of(WARNING, CLOSE_NOTIFY))
  }

  /** Takes what is to be sent, a record in each datagram, the caller's to keep. */
  takeOutput(): Buffer[] {
    const output = this.#output
    if (output.length > 0) this.#output = []
    return output
  }

  /** Wipes the keys; nothing is read or written any more. Idempotent. */
  close(): void {
    this.#open.close()
    this.#seal.close()
  }

  #hearAlert(length: number): void {
    if (length !== 2) return
    const level = scratch[ADDITIONAL]!
    const description = scratch[ADDITIONAL + 1]!
    if (description === CLOSE_NOTIFY) this.#arrived = 'closed'
    else if (level === FATAL) {
      this.reason = `fatal alert ${description} from the peer`
      this.#arrived = 'failed'
    }
  }

  #write(type: number, message: Uint8Array): boolean {
    const { length } = message
    if (length > MAX_DTLS_DATAGRAM - RECORD_OVERHEAD || this.#sequence > MAX_SEQUENCE) return false
    const { iv } = this.#seal
    iv.writeUInt32BE(this.#localSalt)
    iv.writeUInt32BE(this.#nonceHigh, 4)
    iv.writeUInt32BE(this.#nonceLow, 8)
    scratch.writeUInt16BE(EPOCH, 0)
    scratch.writeUIntBE(this.#sequence, 2, 6)
    scratch[8] = type
    scratch.writeUInt16BE(VERSION, 9)
    scratch.writeUInt16BE(length, 11)
    scratch.set(message, ADDITIONAL)
    // Counted on whatever comes of it: a nonce that may have been used is not used again.
    this.#advance()
    if (!this.#seal.seal(scratch, 0, ADDITIONAL, ADDITIONAL + length, -1)) return false
    this.#output.push(toDatagram(iv, length))
    return true
  }

  #advance(): void {
    this.#sequence++
    this.#nonceLow = (this.#nonceLow + 1) >>> 0
    if (this.#nonceLow === 0) this.#nonceHigh = (this.#nonceHigh + 1) >>> 0
  }
}

/**
 * What goes on with a connection's records from `position`; undefined where only OpenSSL can. The connection is the
 * caller's to close, and must not read or write any more.
 */
export function takeOver(
  connection: DtlsConnection,
  position: WritePosition,
  role: DtlsRole,
): DtlsRecords | undefined {
  const secrets = connection.takeSecrets()
  if (!secrets) return undefined
  const keys = deriveRecordKeys(secrets, role)
  const records = new DtlsRecords(keys, position)
  for (const secret of [secrets.master, keys.localKey, keys.remoteKey]) secret.fill(0)
  return records
}

/** The record that lies sealed in the scratch. */
function toDatagram(iv: Buffer, length: number): Buffer {
  const datagram = Buffer.allocUnsafe(length + RECORD_OVERHEAD)
  scratch.copy(datagram, 0, 8, 11)
  scratch.copy(datagram, 3, 0, 8)
  datagram.writeUInt16BE(EXPLICIT_NONCE + length + RECORD_TAG, 11)
  iv.copy(datagram, RECORD_HEADER, 4, 12)
  scratch.copy(datagram, RECORD_HEADER + EXPLICIT_NONCE, ADDITIONAL, ADDITIONAL + length + RECORD_TAG)
  return datagram
}
