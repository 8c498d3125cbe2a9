/** DTLS with another program: `openssl s_client` over UDP. Skipped, aloud, where there is none. */

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DtlsConnection } from '../../core/index.ts'
import { DtlsEndpoint, type SrtpKeys } from '../../plugins/transceiver/peer/dtls.ts'
import { dtlsIdentity } from '../../plugins/transceiver/peer/dtls-context.ts'

const BOTH_PROFILES = ['-use_srtp', 'SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80']
const EXPORT = ['-keymatexport', 'EXTRACTOR-dtls_srtp', '-keymatexportlen', '56']

const missing = spawnSync('openssl', ['version']).status !== 0
let folder = ''

function makeCertificate(name: string, ...algorithm: string[]): void {
  const files = ['-keyout', join(folder, `${name}.key`), '-out', join(folder, `${name}.pem`)]
  const rest = ['-nodes', '-subj', '/CN=client', '-days', '2']
  execFileSync('openssl', ['req', '-x509', '-newkey', ...algorithm, ...files, ...rest], { stdio: 'ignore' })
}

const fingerprintOf = (name: string) =>
  new X509Certificate(readFileSync(join(folder, `${name}.pem`))).fingerprint256

/** Serves one s_client; resolves when the server's endpoint and the client have both ended. */
async function serve(expected: string, certificate: string | undefined, options: string[]) {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const result = { keys: [] as SrtpKeys[], heard: '', ended: '', output: '', connections: -1 }
  let port = 0
  const endpoint = new DtlsEndpoint({
    role: 'server',
    fingerprints: [{ algorithm: 'sha-256', value: fingerprintOf(expected) }],
    context: dtlsIdentity().context,
    send: (datagram) => socket.send(datagram, port, '127.0.0.1'),
    onConnected: (keys) => result.keys.push(keys),
    onMessage: (message) => {
      result.heard += message.toString()
      endpoint.write(Buffer.from('hello from the edge\n'))
    },
    onClosed: (reason) => {
      result.ended = reason
    },
  })
  endpoint.start(performance.now())
  socket.on('message', (datagram, from) => {
    port = from.port
    endpoint.receive(datagram, 0, datagram.length, performance.now())
  })
  const timer = setInterval(() => endpoint.tick(performance.now()), 20)
  const identity = certificate
    ? ['-cert', join(folder, `${certificate}.pem`), '-key', join(folder, `${certificate}.key`)]
    : []
  const target = ['s_client', '-dtls1_2', '-connect', `127.0.0.1:${socket.address().port}`]
  const client = spawn('openssl', [...target, ...identity, ...options, ...EXPORT])
  client.stdin.on('error', () => {})
  client.stderr.on('data', (text) => {
    result.output += text
  })
  let asked = false
  client.stdout.on('data', (text) => {
    result.output += text
    // s_client prints the keying material last, and then reads its input.
    if (!asked && /Keying material: [0-9A-F]+\s/.test(result.output)) {
      asked = true
      client.stdin.write('ping\n')
    }
    if (!result.output.includes('hello from the edge')) return
    result.connections = DtlsConnection.live
    endpoint.close()
  })
  await once(client, 'close')
  clearInterval(timer)
  endpoint.close()
  socket.close()
  return result
}

describe('openssl s_client', { skip: missing && 'there is no openssl command here' }, () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'earshot-s-client-'))
    makeCertificate('ecdsa', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256')
    makeCertificate('rsa', 'rsa:2048')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const served: [string, string, string[], number][] = [
    ['an ECDSA certificate', 'ecdsa', BOTH_PROFILES, 7],
    ['an RSA certificate', 'rsa', BOTH_PROFILES, 7],
    [
      'P-256 and AES128_CM_SHA1_80 only',
      'ecdsa',
      ['-use_srtp', 'SRTP_AES128_CM_SHA1_80', '-groups', 'P-256'],
      1,
    ],
    ['flights in fragments of 256 bytes', 'rsa', [...BOTH_PROFILES, '-mtu', '256'], 7],
  ]
  for (const [name, certificate, options, profile] of served) {
    test(`is served with ${name}, and ends at our close_notify`, { timeout: 20_000 }, async () => {
      const { keys, heard, output, connections } = await serve(certificate, certificate, options)
      assert.equal(keys[0]?.profile, profile, output)
      assert.equal(heard.trim(), 'ping')
      assert.equal(connections, 0, 'our records answered, OpenSSL’s were given up')
      const material = Buffer.from(/Keying material: ([0-9A-F]+)/.exec(output)?.[1] ?? '', 'hex')
      assert.deepEqual(keys[0]?.remoteKey, material.subarray(0, 16), 'the client’s key by both programs')
      assert.deepEqual(keys[0]?.localKey, material.subarray(16, 32))
    })
  }

  const refused: [string, string | undefined, string[], RegExp][] = [
    ['no certificate', undefined, BOTH_PROFILES, /did not return a certificate/],
    ['another certificate', 'rsa', BOTH_PROFILES, /certificate verify failed/],
    ['no use_srtp', 'ecdsa', [], /no SRTP profile/],
  ]
  for (const [name, certificate, options, reason] of refused) {
    test(`is refused with ${name}, and notices`, { timeout: 20_000 }, async () => {
      const { keys, ended, heard } = await serve('ecdsa', certificate, options)
      assert.deepEqual(keys, [])
      assert.equal(heard, '')
      assert.match(ended, reason)
    })
  }
})
