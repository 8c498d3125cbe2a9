/** Which of an SDP's fingerprints can be checked (RFC 8122 §5). SHA-1 proves too little. Pure. */

import { EdgeError } from '../../../core/index.ts'

/** A fingerprint as an SDP has it (RFC 8122 §5). */
export interface Fingerprint {
  readonly algorithm: string
  readonly value: string
}

/** What a certificate's digest must be. */
export interface Pin {
  readonly algorithm: 'sha-256' | 'sha-512'
  readonly digest: Buffer
}

const DIGEST_BYTES = { 'sha-256': 32, 'sha-512': 64 } as const

/** What a fingerprint pins; undefined for another algorithm, and for a value that is malformed or not whole. */
export function toPin({ algorithm, value }: Fingerprint): Pin | undefined {
  const name = algorithm.toLowerCase()
  if (name !== 'sha-256' && name !== 'sha-512') return undefined
  if (value.length !== DIGEST_BYTES[name] * 3 - 1) return undefined
  if (!/^[0-9a-f]{2}(?::[0-9a-f]{2})*$/i.test(value)) return undefined
  return { algorithm: name, digest: Buffer.from(value.replaceAll(':', ''), 'hex') }
}

/** The pins of the fingerprints that can be checked. Throws EdgeError `unsupported_offer` when there is none. */
export function usableFingerprints(fingerprints: readonly Fingerprint[]): Pin[] {
  const pins = fingerprints.flatMap((one) => toPin(one) ?? [])
  if (pins.length > 0) return pins
  const given = fingerprints.map((one) => one.algorithm).join(', ') || 'none'
  const message = `the offer has no usable a=fingerprint (given: ${given}); a well-formed sha-256 or sha-512 one is needed`
  throw new EdgeError('unsupported_offer', message, { param: 'sdp' })
}
