/**
 * The self-signed certificate that a transceiver shows in DTLS. Its fingerprint goes into the answer, so its
 * names and dates prove nothing; the serial is random because Firefox minds two certificates with one serial.
 */

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const DAY = 86_400_000
const SEQUENCE = 0x30
const ECDSA_WITH_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const VERSION_3 = Buffer.from('a003020102', 'hex')

/** A certificate, its key, and the fingerprint that an SDP carries. */
export interface Certificate {
  /** X.509, DER. */
  readonly certificate: Buffer
  /** PKCS #8, DER. */
  readonly privateKey: Buffer
  /** SHA-256 in upper-case hex with colons (RFC 8122 §5). */
  readonly fingerprint: string
}

/** Makes one: P-256, valid from a day before `now` (milliseconds since 1970) to 90 days after it. */
export function createCertificate(now: number): Certificate {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from('WebRTC')))))
  const unsigned = der(
    SEQUENCE,
    VERSION_3,
    der(0x02, serial()),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, utcTime(now - DAY), utcTime(now + 90 * DAY)),
    name,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = sign('sha256', unsigned, keys.privateKey)
  const certificate = der(SEQUENCE, unsigned, ECDSA_WITH_SHA256, der(0x03, Buffer.of(0), signature))
  return {
    certificate,
    privateKey: keys.privateKey.export({ type: 'pkcs8', format: 'der' }),
    fingerprint: fingerprintOf(certificate),
  }
}

/** The SHA-256 fingerprint of a DER certificate, as an SDP spells it. */
export function fingerprintOf(certificate: Uint8Array): string {
  const hex = createHash('sha256').update(certificate).digest('hex').toUpperCase()
  return hex.replace(/..(?=.)/g, '$&:')
}

function serial(): Buffer {
  const bytes = randomBytes(16)
  // Positive and without a leading zero byte, as DER wants an integer.
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replace(/\D/g, '')
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`))
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  const size = body.length
  const head = size < 128 ? [tag, size] : size < 256 ? [tag, 0x81, size] : [tag, 0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from(head), body])
}
