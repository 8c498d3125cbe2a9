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

/**
 * The fingerprints that can be checked: well-formed SHA-256 and SHA-512 ones. Throws EdgeError
 * `unsupported_offer` when there is none.
 */
export function usableFingerprints(fingerprints: readonly Fingerprint[]): Pin[] {
  const pins: Pin[] = []
  for (const { algorithm, value } of fingerprints) {
    const name = algorithm.toLowerCase()
    const size = name === 'sha-256' ? 32 : name === 'sha-512' ? 64 : 0
    if (name !== 'sha-256' && name !== 'sha-512') continue
    const hex = value.replaceAll(':', '')
    if (hex.length === 2 * size && /^[0-9a-f]+$/i.test(hex)) {
      pins.push({ algorithm: name, digest: Buffer.from(hex, 'hex') })
    }
  }
  if (pins.length > 0) return pins
  const given = fingerprints.map((one) => one.algorithm).join(', ') || 'none'
  const message = `the offer has no usable a=fingerprint (given: ${given}); a well-formed sha-256 or sha-512 one is needed`
  throw new EdgeError('unsupported_offer', message, { param: 'sdp' })
}
