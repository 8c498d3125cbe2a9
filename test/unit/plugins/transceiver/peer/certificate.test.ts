import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { createCertificate } from '../../../../../plugins/transceiver/peer/certificate.ts'

const NOW = Date.UTC(2026, 0, 31, 12, 0, 5)

test('a certificate is P-256, self-signed, of 90 days, and its fingerprint is its own', () => {
  const { certificate, fingerprint } = createCertificate(NOW)
  const parsed = new X509Certificate(certificate)
  assert.equal(parsed.fingerprint256, fingerprint)
  assert.match(fingerprint, /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
  assert.ok(parsed.verify(parsed.publicKey))
  assert.equal(parsed.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assert.equal(parsed.validFromDate.getTime(), NOW - 86_400_000)
  assert.equal(parsed.validToDate.getTime(), NOW + 90 * 86_400_000)
})

test('no two have the same serial or key', () => {
  const [a, b] = [createCertificate(NOW), createCertificate(NOW)].map(
    (one) => new X509Certificate(one.certificate),
  )
  assert.notEqual(a!.serialNumber, b!.serialNumber)
  assert.ok(!a!.publicKey.equals(b!.publicKey))
  assert.equal(a!.serialNumber.length, 32)
})
