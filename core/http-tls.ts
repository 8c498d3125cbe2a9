/** The listener's certificate: from files, or one of our own made at start and kept in memory. */

import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { createSecureContext } from 'node:tls'
import { isObject } from './config/pointer.ts'
import { EdgeError } from './errors.ts'
import { selfSigned } from './self-signed.ts'

/** A certificate chain and its key, in PEM. */
export interface TlsIdentity {
  readonly cert: string
  readonly key: string
}

/** What the config asks for; undefined for plain HTTP. Throws EdgeError `config_invalid` when the files do not serve. */
export function tlsIdentity(
  tls: false | 'self-signed' | { cert: string; key: string },
): TlsIdentity | undefined {
  if (tls === false) return undefined
  if (tls === 'self-signed') return selfSignedPem(['localhost', ...machineAddresses()])
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

/** A certificate for these DNS names and ips, in PEM (RFC 7468). */
export function selfSignedPem(hosts: readonly string[], now = Date.now()): TlsIdentity {
  const { certificate, privateKey } = selfSigned('Earshot', now, hosts)
  return { cert: pem('CERTIFICATE', certificate), key: pem('PRIVATE KEY', privateKey) }
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
