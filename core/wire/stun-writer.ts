/**
 * Writes the STUN messages an ICE agent sends: Binding request, success and error, each with MESSAGE-INTEGRITY
 * and FINGERPRINT at its end (RFC 8445 §7.1, §7.3). All write into the caller's memory at `start` and give the
 * end; STUN_ROOM bytes are always enough. Pure.
 */

import type { Address } from './address.ts'
import { STUN_BINDING_ERROR, STUN_BINDING_REQUEST, STUN_BINDING_SUCCESS, STUN_HEADER_LENGTH } from './stun.ts'
import {
  MAGIC_COOKIE,
  StunAttribute,
  TRANSACTION_ID,
  writeXorAddress,
  xorAddressLength,
} from './stun-attributes.ts'
import { appendFingerprint, type IntegrityKey } from './stun-integrity.ts'

/** Bytes that hold any message written here: a USERNAME of two 256-byte halves and all else. */
export const STUN_ROOM = 640

/** The errors that an agent answers an authenticated check with; what is not authenticated gets no answer. */
export type BindingErrorCode = 420 | 487

const REASONS: Readonly<Record<BindingErrorCode, string>> = {
  420: 'Unknown Attribute',
  487: 'Role Conflict',
}

/** A success response to the transaction at id[idAt, idAt + 12), telling the client its address. */
export function writeBindingSuccess(
  out: Buffer,
  start: number,
  id: Buffer,
  idAt: number,
  client: Address,
  key: IntegrityKey,
): number {
  const body = header(out, start, STUN_BINDING_SUCCESS, id, idAt)
  const length = xorAddressLength(client)
  const value = attribute(out, body, StunAttribute.xorMappedAddress, length)
  writeXorAddress(out, start, value, client)
  return seal(out, start, value + length, key)
}

/** An error response; `unknown` is listed as UNKNOWN-ATTRIBUTES with 420 and not used otherwise. */
export function writeBindingError(
  out: Buffer,
  start: number,
  id: Buffer,
  idAt: number,
  code: BindingErrorCode,
  unknown: Uint16Array,
  unknownCount: number,
  key: IntegrityKey,
): number {
  const body = header(out, start, STUN_BINDING_ERROR, id, idAt)
  const reason = REASONS[code]
  let at = attribute(out, body, StunAttribute.errorCode, 4 + reason.length)
  out.writeUInt16BE(0, at)
  out[at + 2] = Math.floor(code / 100)
  out[at + 3] = code % 100
  out.write(reason, at + 4, 'latin1')
  at = pad(out, at + 4 + reason.length, start)
  if (code === 420) {
    at = attribute(out, at, StunAttribute.unknownAttributes, 2 * unknownCount)
    for (let i = 0; i < unknownCount; i++) at = out.writeUInt16BE(unknown[i]!, at)
    at = pad(out, at, start)
  }
  return seal(out, start, at, key)
}

/** What goes into a Binding request of an agent in the controlled role. */
export interface BindingRequest {
  /** `<their ufrag>:<our ufrag>`, at most 513 bytes. */
  readonly username: Buffer
  readonly priority: number
  /** 8 bytes (RFC 8445 §7.1.3). */
  readonly tieBreaker: Buffer
}

/** A Binding request (a connectivity check) with the transaction id at id[idAt, idAt + 12). */
export function writeBindingRequest(
  out: Buffer,
  start: number,
  id: Buffer,
  idAt: number,
  request: BindingRequest,
  key: IntegrityKey,
): number {
  const body = header(out, start, STUN_BINDING_REQUEST, id, idAt)
  let at = attribute(out, body, StunAttribute.username, request.username.length)
  request.username.copy(out, at)
  at = pad(out, at + request.username.length, start)
  at = attribute(out, at, StunAttribute.priority, 4)
  at = out.writeUInt32BE(request.priority, at)
  at = attribute(out, at, StunAttribute.iceControlled, 8)
  request.tieBreaker.copy(out, at, 0, 8)
  return seal(out, start, at + 8, key)
}

function header(out: Buffer, start: number, type: number, id: Buffer, idAt: number): number {
  out.writeUInt16BE(type, start)
  out.writeUInt32BE(MAGIC_COOKIE, start + 4)
  id.copy(out, start + 8, idAt, idAt + TRANSACTION_ID)
  return start + STUN_HEADER_LENGTH
}

/** Writes an attribute's header and gives where its value begins. */
function attribute(out: Buffer, at: number, type: number, length: number): number {
  out.writeUInt16BE(type, at)
  out.writeUInt16BE(length, at + 2)
  return at + 4
}

/** Fills up to four bytes' alignment with zeros. */
function pad(out: Buffer, at: number, start: number): number {
  while (((at - start) & 3) !== 0) out[at++] = 0
  return at
}

function seal(out: Buffer, start: number, at: number, key: IntegrityKey): number {
  return appendFingerprint(out, start, key.sign(out, start, at))
}
