/**
 * What may reach OpenSSL. Some datagrams that anyone can send end a session there: an epoch-1 record shorter
 * than AES-GCM's overhead, and before the handshake is over a plaintext alert, plaintext data or a malformed
 * fragment. Pure.
 */

/** The largest datagram that is looked at. */
export const MAX_DTLS_DATAGRAM = 2048

const HEADER = 13
const CHANGE_CIPHER_SPEC = 20
const HANDSHAKE = 22
const HIGHEST_TYPE = 23
const MESSAGE_HEADER = 12
const MAX_MESSAGE = 16384
const GCM_OVERHEAD = 8 + 16

const bits = (...types: number[]): number => types.reduce((set, type) => set | (1 << type), 0)
/** ClientHello, Certificate, CertificateVerify, ClientKeyExchange, Finished (RFC 5246 §7.4). */
const TO_SERVER = bits(1, 11, 15, 16, 20)
/** ServerHello, HelloVerifyRequest, NewSessionTicket, Certificate … ServerHelloDone, Finished. */
const TO_CLIENT = bits(2, 3, 4, 11, 12, 13, 14, 20)

const uint16 = (b: Uint8Array, at: number): number => (b[at]! << 8) | b[at + 1]!
const uint24 = (b: Uint8Array, at: number): number => (b[at]! << 16) | uint16(b, at + 1)

/**
 * Whether every record of bytes[start, end) is well-formed and of a kind that this role can use. Plaintext
 * handshake records pass once connected too: a repeated last flight has them in front of its Finished.
 */
export function acceptable(
  bytes: Uint8Array,
  start: number,
  end: number,
  role: 'server' | 'client',
): boolean {
  if (end - start > MAX_DTLS_DATAGRAM || end > bytes.length || start >= end) return false
  let at = start
  while (at < end) {
    if (at + HEADER > end) return false
    const type = bytes[at]!
    const epoch = uint16(bytes, at + 3)
    const next = at + HEADER + uint16(bytes, at + 11)
    if (type < CHANGE_CIPHER_SPEC || type > HIGHEST_TYPE || bytes[at + 1] !== 0xfe || next > end) return false
    if (epoch > 1) return false
    if (epoch === 1) {
      if (next - at - HEADER < GCM_OVERHEAD) return false
    } else if (!plaintextAcceptable(bytes, at + HEADER, next, type, role)) {
      return false
    }
    at = next
  }
  return true
}

function plaintextAcceptable(
  bytes: Uint8Array,
  body: number,
  end: number,
  type: number,
  role: 'server' | 'client',
): boolean {
  if (type === CHANGE_CIPHER_SPEC) return end === body + 1 && bytes[body] === 1
  // Unauthenticated alerts go too: the handshake's timer is the answer to a peer that gave up.
  return type === HANDSHAKE && end > body && fragmentsAcceptable(bytes, body, end, role)
}

function fragmentsAcceptable(
  bytes: Uint8Array,
  body: number,
  end: number,
  role: 'server' | 'client',
): boolean {
  const wanted = role === 'server' ? TO_SERVER : TO_CLIENT
  let at = body
  while (at < end) {
    if (at + MESSAGE_HEADER > end) return false
    const type = bytes[at]!
    const length = uint24(bytes, at + 1)
    const offset = uint24(bytes, at + 6)
    const fragment = uint24(bytes, at + 9)
    const next = at + MESSAGE_HEADER + fragment
    if (type > 31 || (wanted & (1 << type)) === 0) return false
    if (length > MAX_MESSAGE || offset + fragment > length || next > end) return false
    // A fragment without a byte of its message only makes OpenSSL allocate room for the whole.
    if (fragment === 0 && length > 0) return false
    at = next
  }
  return true
}
