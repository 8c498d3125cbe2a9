/** The listener's certificate: from files, or one of our own made at start and kept in memory. */

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createSecureContext } from 'node:tls'
import { isObject } from './config/pointer.ts'
import { EdgeError } from './errors.ts'
import { toAddress } from './wire/address.ts'

/** A certificate chain and its key, in PEM. */
export interface TlsIdentity {
  readonly cert: string
  readonly key: string
}

const DAY = 86_400_000
const ECDSA_SHA256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'))
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex')
const SERVER_AUTH = Buffer.from('301306 03551d25 040c 300a 0608 2b06010505070301'.replaceAll(' ', ''), 'hex')

/** What the config asks for; undefined for plain HTTP. Throws EdgeError `config_invalid` when the files do not serve. */
export function tlsIdentity(
  tls: false | 'self-signed' | { cert: string; key: string },
): TlsIdentity | undefined {
  if (tls === false) return undefined
  if (tls === 'self-signed') return selfSigned(['localhost', ...machineAddresses()])
  const identity = { cert: readPem(tls.cert, 'cert'), key: readPem(tls.key, 'key') }
  try {
    createSecureContext(identity)
  } catch (cause) {
    throw new EdgeError(
      'config_invalid',
      `http.tls: ${tls.cert} and ${tls.key} are no certificate and its key`,
      {
        cause,
      },
    )
  }
  return identity
}

function readPem(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const code = isObject(cause) ? ` (${String(cause.code)})` : ''
    throw new EdgeError('config_invalid', `http.tls.${what}: ${path} cannot be read${code}`, { cause })
  }
}

function machineAddresses(): string[] {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return [...new Set(['127.0.0.1', '::1', ...own.map(({ address }) => address)])]
}

/** A P-256 certificate for these DNS names and ip addresses, valid from yesterday for 90 days (RFC 5280). */
export function selfSigned(hosts: readonly string[], now = Date.now()): TlsIdentity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = der(
    0x30,
    der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('Earshot')))),
  )
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x7f) | 0x40
  const toBeSigned = der(
    0x30,
    Buffer.from('a003020102', 'hex'),
    der(0x02, serial),
    ECDSA_SHA256,
    name,
    der(0x30, time(now - DAY), time(now + 90 * DAY)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, constraints(), SERVER_AUTH, alternativeNames(hosts))),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toBeSigned, privateKey))
  const cert = der(0x30, toBeSigned, ECDSA_SHA256, signature).toString('base64')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${cert.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

function constraints(): Buffer {
  return der(0x30, BASIC_CONSTRAINTS, der(0x01, Buffer.from([0xff])), der(0x04, der(0x30)))
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 0 ? der(0x82, Buffer.from(host, 'latin1')) : der(0x87, ipBytes(host)),
  )
  return der(0x30, SUBJECT_ALT_NAME, der(0x04, der(0x30, ...names)))
}

function ipBytes(host: string): Buffer {
  const address = toAddress(host, 0)
  const bytes = Buffer.alloc(16)
  address?.write(bytes, 0)
  return address?.isIPv4 ? bytes.subarray(12) : bytes
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

/** UTCTime, which RFC 5280 §4.1.2.5 wants until 2049. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)
  return der(0x17, Buffer.from(`${digits}Z`))
}
