/**
 * The little of STUN that a relay reads (RFC 8489 §5, §14): whether a datagram is a STUN message, its type, and the
 * receiver's ufrag in the USERNAME of a Binding request (RFC 8445 §7.2.2). Checks no integrity and changes nothing.
 * Never throws and never allocates, whatever the bytes. Pure.
 */

/** Message types of the Binding method (RFC 8489 §18.2). */
export const STUN_BINDING_REQUEST = 0x0001
export const STUN_BINDING_INDICATION = 0x0011
export const STUN_BINDING_SUCCESS = 0x0101
export const STUN_BINDING_ERROR = 0x0111

/** The fixed header's length in bytes. */
export const STUN_HEADER_LENGTH = 20

/** Two ufrags of 256 characters and a colon (RFC 8839 §5.4); RFC 5389 §15.3 says the same. */
const MAX_USERNAME_LENGTH = 513

const COOKIE = 0x2112a442
const USERNAME = 0x0006
const COLON = 0x3a

/** What `readStun` found. One is made and used again for every datagram. */
export class StunSummary {
  /** The 14-bit message type. */
  type = 0
  /** A Binding request carries a USERNAME. */
  hasUsername = false
  /** The receiver's ufrag, bytes[ufragStart, ufragEnd); both -1 when there is none or the USERNAME is not ICE's. */
  ufragStart = -1
  ufragEnd = -1
}

/**
 * Reads bytes[start, end). False when it is no STUN message: shorter than a header, wrong cookie, a length that is
 * no multiple of 4 or is not the datagram's, or, in a Binding request, an attribute in front of the USERNAME that
 * runs past the end. Of several USERNAMEs the first counts (RFC 8489 §14). What lies behind it is not looked at.
 */
export function readStun(bytes: Uint8Array, start: number, end: number, into: StunSummary): boolean {
  into.type = 0
  into.hasUsername = false
  into.ufragStart = -1
  into.ufragEnd = -1
  if (end - start < STUN_HEADER_LENGTH || bytes[start]! > 3) return false
  const length = (bytes[start + 2]! << 8) | bytes[start + 3]!
  if ((length & 3) !== 0 || length !== end - start - STUN_HEADER_LENGTH) return false
  if (cookieAt(bytes, start + 4) !== COOKIE) return false
  into.type = (bytes[start]! << 8) | bytes[start + 1]!
  return into.type !== STUN_BINDING_REQUEST || findUsername(bytes, start + STUN_HEADER_LENGTH, end, into)
}

function cookieAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}

/** Walks the attributes up to the first USERNAME; false when one of them does not fit. */
function findUsername(bytes: Uint8Array, from: number, end: number, into: StunSummary): boolean {
  let at = from
  while (at < end) {
    const type = (bytes[at]! << 8) | bytes[at + 1]!
    const length = (bytes[at + 2]! << 8) | bytes[at + 3]!
    const value = at + 4
    if (value + length > end) return false
    if (type === USERNAME) {
      into.hasUsername = true
      splitUsername(bytes, value, value + length, into)
      return true
    }
    // Each attribute is padded to 4 bytes, and the padding is not part of its length (RFC 8489 §14).
    at = value + ((length + 3) & ~3)
  }
  return true
}

/** The receiver's ufrag is what stands in front of the colon. */
function splitUsername(bytes: Uint8Array, start: number, end: number, into: StunSummary): void {
  if (end - start > MAX_USERNAME_LENGTH) return
  for (let i = start; i < end; i++) {
    if (bytes[i] !== COLON) continue
    if (i === start) return
    into.ufragStart = start
    into.ufragEnd = i
    return
  }
}
