/**
 * Self-signed certificates (X.509 v3, RFC 5280), for a listener and for DTLS: P-256, with a random serial, since
 * browsers mind two certificates with one serial, and good from a day before `now` to 90 days after it.
 */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { toAddress } from './wire/address.ts'

/** A certificate and its key. */
export interface SelfSigned {
  /** X.509, DER. */
  readonly certificate: Buffer
  /** PKCS #8, DER. */
  readonly privateKey: Buffer
}

const DAY = 86_400_000
const SEQUENCE = 0x30
const OCTETS = 0x04
const VERSION_3 = Buffer.from('a003020102', 'hex')
const ECDSA_WITH_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')
const NO_AUTHORITY = Buffer.from('300c0603551d130101ff04023000', 'hex')
const SERVER_AUTH = Buffer.from('301306 03551d25 040c 300a 0608 2b06010505070301'.replaceAll(' ', ''), 'hex')

/**
 * Makes one at `now`, in milliseconds since 1970. With `hosts`, DNS names and ips, it is one for a server of these
 * names; without, it says nothing but `name`, as DTLS wants it, where the fingerprint is what counts.
 */
export function selfSigned(name: string, now: number, hosts: readonly string[] = []): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(name)))))
  const unsigned = der(
    SEQUENCE,
    VERSION_3,
    der(0x02, serial()),
    ECDSA_WITH_SHA256,
    subject,
    der(SEQUENCE, utcTime(now - DAY), utcTime(now + 90 * DAY)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(hosts.length > 0
      ? [der(0xa3, der(SEQUENCE, NO_AUTHORITY, SERVER_AUTH, alternativeNames(hosts)))]
      : []),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', unsigned, privateKey))
  return {
    certificate: der(SEQUENCE, unsigned, ECDSA_WITH_SHA256, signature),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
  }
}

/** Positive and without a leading zero byte, as DER wants an integer. */
function serial(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x7f) | 0x40
  return bytes
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 0 ? der(0x82, Buffer.from(host, 'latin1')) : der(0x87, ipBytes(host)),
  )
  return der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTETS, der(SEQUENCE, ...names)))
}

function ipBytes(host: string): Buffer {
  const address = toAddress(host, 0)
  const bytes = Buffer.alloc(16)
  address?.write(bytes, 0)
  return address?.isIPv4 ? bytes.subarray(12) : bytes
}

/** UTCTime, which RFC 5280 §4.1.2.5 wants until 2049. */
function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}

/** One DER value (X.690): tag, length, contents. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents)
  const { length } = body
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), body])
}
