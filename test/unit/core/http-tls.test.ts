import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { start } from '../../../core/host.ts'
import { selfSignedPem, tlsIdentity } from '../../../core/http-tls.ts'
import { loadedWith, recordedLog } from './host-fixture.ts'

test('a certificate of our own names every host, verifies itself, and is for servers', () => {
  const now = Date.parse('2026-03-01T12:00:00Z')
  const { cert, key } = selfSignedPem(['localhost', '127.0.0.1', '::1', 'edge.example'], now)
  const parsed = new X509Certificate(cert)
  assert.equal(
    parsed.subjectAltName,
    'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:edge.example',
  )
  assert.equal(parsed.checkHost('edge.example'), 'edge.example')
  assert.equal(parsed.checkIP('127.0.0.1'), '127.0.0.1')
  assert.equal(parsed.verify(parsed.publicKey), true)
  assert.equal(parsed.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assert.equal(parsed.ca, false)
  assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  assert.equal(parsed.validFromDate.toISOString(), '2026-02-28T12:00:00.000Z')
  assert.equal(parsed.validToDate.toISOString(), '2026-05-30T12:00:00.000Z')
  assert.match(key, /^-----BEGIN PRIVATE KEY-----/)
})

test('every certificate has a serial of its own, 16 positive bytes', () => {
  const serials = Array.from(
    { length: 20 },
    () => new X509Certificate(selfSignedPem(['a']).cert).serialNumber,
  )
  assert.equal(new Set(serials).size, 20)
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/)
})

test('a client that trusts the certificate of "self-signed" speaks HTTPS by name and by address', async () => {
  const loaded = loadedWith({}, { http: { listen: '127.0.0.1:0', tls: 'self-signed' } })
  const { log, entries } = recordedLog()
  await using edge = await start(loaded, { log })
  const trusting = async (host: string, ca: string): Promise<number | undefined> => {
    const call = request({ host, port: edge.address.port, path: '/livez', ca, servername: 'localhost' })
    const [response] = await once(call.end(), 'response')
    response.resume()
    return response.statusCode
  }
  const probe = request({
    port: edge.address.port,
    host: '127.0.0.1',
    path: '/livez',
    rejectUnauthorized: false,
  })
  const [first] = await once(probe.end(), 'response')
  first.resume()
  const pem = new X509Certificate(first.socket.getPeerCertificate().raw).toString()
  assert.equal(await trusting('127.0.0.1', pem), 200)
  assert.ok(entries.some(({ msg }) => msg === `listening on https://localhost:${edge.address.port}/`))
})

test('certificate files are named when they cannot be read, and when they do not belong together', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-tls-'))
  const [one, two] = [selfSignedPem(['a']), selfSignedPem(['a'])]
  const cert = join(folder, 'cert.pem')
  const key = join(folder, 'key.pem')
  writeFileSync(cert, one.cert)
  assert.throws(() => tlsIdentity({ cert, key }), {
    code: 'config_invalid',
    message: `http.tls.key: ${key} cannot be read (ENOENT)`,
  })
  writeFileSync(key, two.key)
  assert.throws(() => tlsIdentity({ cert, key }), {
    code: 'config_invalid',
    message: /are no certificate and its key/,
  })
  writeFileSync(key, one.key)
  assert.deepEqual(tlsIdentity({ cert, key }), one)
  rmSync(folder, { recursive: true })
})
