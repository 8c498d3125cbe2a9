/**
 * The self-signed certificate that a transceiver shows in DTLS. Its fingerprint goes into the answer, so its
 * names and dates prove nothing.
 */

import { createHash } from 'node:crypto'
import { type SelfSigned, selfSigned } from '../../../core/index.ts'

/** A certificate, its key, and the fingerprint that an SDP carries. */
export interface Certificate extends SelfSigned {
  /** SHA-256 in upper-case hex with colons (RFC 8122 §5). */
  readonly fingerprint: string
}

/** Makes one: P-256, valid from a day before `now` (milliseconds since 1970) to 90 days after it. */
export function createCertificate(now: number): Certificate {
  const own = selfSigned('WebRTC', now)
  return { ...own, fingerprint: fingerprintOf(own.certificate) }
}

/** The SHA-256 fingerprint of a DER certificate, as an SDP spells it. */
export function fingerprintOf(certificate: Uint8Array): string {
  const hex = createHash('sha256').update(certificate).digest('hex').toUpperCase()
  return hex.replace(/..(?=.)/g, '$&:')
}
