/**
 * A call's id: `rtc_`, the route sealed under the `call` label, and 16 secret bytes in lower-case hex.
 *
 * The route tells any process which transceiver owns the call; the secret is what a holder of the ufrag, which
 * travels in clear, cannot make up. One call has exactly one spelling. Pure but for the codec.
 */

import { timingSafeEqual } from 'node:crypto'
import type { Route, RoutingCodec } from '../../../core/index.ts'

/** How many secret bytes an id ends with. */
export const CALL_SECRET_BYTES = 16

const NO_SECRET = new Uint8Array(CALL_SECRET_BYTES)
const PREFIX = 'rtc_'
const SECRET_DIGITS = CALL_SECRET_BYTES * 2
const MAX_ROUTE = 96
const SHAPE = new RegExp(`^${PREFIX}[a-z0-9]{4,${MAX_ROUTE}}[0-9a-f]{${SECRET_DIGITS}}$`)

/** The longest id, in characters: what a router must let through as one parameter. */
export const MAX_CALL_ID = PREFIX.length + MAX_ROUTE + SECRET_DIGITS

/** What a call id holds. */
export interface CallId {
  readonly route: Route
  /** 16 bytes; compare them with `sameSecret`. */
  readonly secret: Uint8Array
}

/** Makes a call's id, at most MAX_CALL_ID characters of [a-z0-9_]. Throws RangeError unless `secret` has 16 bytes. */
export function makeCallId(codec: RoutingCodec, route: Route, secret: Uint8Array): string {
  if (secret.length !== CALL_SECRET_BYTES) {
    throw new RangeError(`a call's secret has ${CALL_SECRET_BYTES} bytes, not ${secret.length}`)
  }
  return PREFIX + codec.encode(route, 'call') + Buffer.from(secret).toString('hex')
}

/** Reads a call's id, or undefined for any text that is none of ours. Never throws. */
export function parseCallId(codec: RoutingCodec, text: string): CallId | undefined {
  if (text.length > MAX_CALL_ID || !SHAPE.test(text)) return undefined
  const split = text.length - SECRET_DIGITS
  const bytes = Buffer.from(text, 'latin1')
  const route = codec.decode(bytes, PREFIX.length, split, 'call')
  if (!route) return undefined
  return { route, secret: Buffer.from(text.slice(split), 'hex') }
}

/** Compares a call's secret with the one that was given, in constant time; where there is no call, in the same time. */
export function sameSecret(held: Uint8Array | undefined, given: Uint8Array): boolean {
  const known = held ?? NO_SECRET
  return known.length === given.length && timingSafeEqual(known, given) && held !== undefined
}
