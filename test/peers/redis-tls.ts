/** Certificates for a Redis server on loopback and for its clients, in files as redis-server and an operator name them. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfSigned } from '../../core/self-signed.ts'

/** Paths of PEM files, and what is in them. Each certificate signs itself; `ca` holds both. */
export interface RedisTlsFiles extends AsyncDisposable {
  readonly ca: string
  /** The server's. */
  readonly cert: string
  readonly key: string
  /** A client's, for servers that ask for one. */
  readonly clientCert: string
  readonly clientKey: string
  readonly caText: string
  readonly certText: string
  readonly keyText: string
  /** Gives the client another certificate, in the same files; a server that is started again trusts no other. */
  renewClient(): Promise<void>
}

/** Makes one for `hosts`: 127.0.0.1 and localhost unless told otherwise. */
export async function redisTlsFiles(
  hosts: readonly string[] = ['127.0.0.1', 'localhost'],
): Promise<RedisTlsFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-redis-tls-'))
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name)
    await writeFile(path, text)
    return path
  }
  const server = selfSigned('redis of a test', Date.now(), hosts)
  const certText = pem('CERTIFICATE', server.certificate)
  const keyText = pem('PRIVATE KEY', server.privateKey)
  // Without hosts it names no purpose, so that a server takes it from a client.
  const client = async () => {
    const { certificate, privateKey } = selfSigned('relay of a test', Date.now())
    const text = pem('CERTIFICATE', certificate)
    return {
      clientCert: await file('client.pem', text),
      clientKey: await file('client.key', pem('PRIVATE KEY', privateKey)),
      caText: certText + text,
      ca: await file('ca.pem', certText + text),
    }
  }
  return {
    ...(await client()),
    cert: await file('server.pem', certText),
    key: await file('server.key', keyText),
    certText,
    keyText,
    async renewClient() {
      await client()
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
