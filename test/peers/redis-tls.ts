/** A certificate for a Redis server on loopback, in files as redis-server and an operator name them. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from '../../core/self-signed.ts'

/** Paths of PEM files, and what is in them. It signs itself: `ca` is `cert`. */
export interface RedisTlsFiles extends AsyncDisposable {
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly caText: string
  readonly certText: string
  readonly keyText: string
}

/** Makes one for `hosts`: 127.0.0.1 and localhost unless told otherwise. */
export async function redisTlsFiles(
  hosts: readonly string[] = ['127.0.0.1', 'localhost'],
): Promise<RedisTlsFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-redis-tls-'))
  const made = selfSigned('redis of a test', Date.now(), hosts)
  const certText = pem('CERTIFICATE', made.certificate)
  const keyText = pem('PRIVATE KEY', made.privateKey)
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  await writeFile(cert, certText)
  await writeFile(key, keyText)
  return {
    ca: cert,
    cert,
    key,
    caText: certText,
    certText,
    keyText,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
