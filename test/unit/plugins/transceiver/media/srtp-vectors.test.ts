/** Published vectors: RFC 3711 appendix B.3, RFC 7714 §16.1.1 and §17.1, and libsrtp's own for profile 1. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opensslEngine } from '../../../../../plugins/transceiver/media/srtp-engine.ts'
import { deriveSessionKeys } from '../../../../../plugins/transceiver/media/srtp-keys.ts'
import { portableEngine } from '../../../../../plugins/transceiver/media/srtp-portable.ts'
import {
  CounterModeTransform,
  GcmTransform,
} from '../../../../../plugins/transceiver/media/srtp-transform.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

const MASTER_KEY = hex('E1F97A0D3E018BE0D64FA32C06DE4139')
const MASTER_SALT = hex('0EC675AD498AFEEBB6960B3AABE6')
const GCM_KEYS = {
  cipher: hex('000102030405060708090a0b0c0d0e0f'),
  authentication: Buffer.alloc(20),
  salt: hex('517569642070726f2071756f'),
}

for (const engine of [opensslEngine, portableEngine]) {
  test('RFC 3711 B.3: session keys', () => {
    const keys = deriveSessionKeys(engine.counter(MASTER_KEY), MASTER_SALT, 'rtp')
    assert.deepEqual(keys.cipher, hex('C61E7A93744F39EE10734AFE3FF7A087'))
    assert.deepEqual(keys.salt, hex('30CBBC08863D8C85D49DB34A9AE1'))
    assert.deepEqual(keys.authentication, hex('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4'))
  })
}

/** A plain packet in the middle of a larger buffer, so that offsets count. */
function placed(packet: Buffer) {
  const bytes = Buffer.alloc(packet.length + 64, 0xee)
  packet.copy(bytes, 7)
  return { bytes, start: 7, end: 7 + packet.length }
}

for (const [name, engine] of [
  ['OpenSSL', opensslEngine],
  ['node:crypto', portableEngine],
] as const) {
  test(`RFC 7714 §16.1.1 on ${name}: SRTP with AEAD_AES_128_GCM`, () => {
    const plain = hex(
      '8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472 6573',
    )
    const sealed = hex(
      '8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833 899d7f27 beb16a91 52cf765e e4390cce',
    )
    const { bytes, start, end } = placed(plain)
    assert.ok(new GcmTransform(engine, GCM_KEYS, 'seal').protectRtp(bytes, start, start + 12, end, 0))
    assert.deepEqual(bytes.subarray(start, end + 16), sealed)
    assert.ok(new GcmTransform(engine, GCM_KEYS, 'open').unprotectRtp(bytes, start, start + 12, end, 0))
    assert.deepEqual(bytes.subarray(start, end), plain)
  })

  test(`RFC 7714 §17.1 on ${name}: SRTCP with AEAD_AES_128_GCM`, () => {
    const plain = hex(
      '81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef',
    )
    const sealed = hex(
      '81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4',
    )
    const { bytes, start, end } = placed(plain)
    assert.ok(new GcmTransform(engine, GCM_KEYS, 'seal').protectRtcp(bytes, start, end, 0x5d4))
    assert.deepEqual(bytes.subarray(start, end + 20), sealed)
    assert.ok(new GcmTransform(engine, GCM_KEYS, 'open').unprotectRtcp(bytes, start, end, 0x5d4))
    assert.deepEqual(bytes.subarray(start, end), plain)
  })

  test(`AES128_CM_HMAC_SHA1_80 on ${name}: libsrtp's SRTP vector`, () => {
    const plain = hex(`800f1234 decafbad cafebabe ${'ab'.repeat(16)}`)
    const sealed = hex(
      '800f1234 decafbad cafebabe 4e55dc4c e79978d8 8ca4d215 949d2402 b78d6acc 99ea179b 8dbb',
    )
    const { bytes, start, end } = placed(plain)
    const transform = new CounterModeTransform(
      engine,
      deriveSessionKeys(engine.counter(MASTER_KEY), MASTER_SALT, 'rtp'),
    )
    assert.ok(transform.protectRtp(bytes, start, start + 12, end, 0))
    assert.deepEqual(bytes.subarray(start, end + 10), sealed)
    assert.ok(transform.unprotectRtp(bytes, start, start + 12, end, 0))
    assert.deepEqual(bytes.subarray(start, end), plain)
  })

  test(`AES128_CM_HMAC_SHA1_80 on ${name}: libsrtp's SRTCP vector`, () => {
    const plain = hex(`81c8000b cafebabe ${'ab'.repeat(16)}`)
    const sealed = hex(
      '81c8000b cafebabe 7128035b e487b9bd bef89041 f977a5a8 80000001 993e08cd 54d6c123 0798',
    )
    const { bytes, start, end } = placed(plain)
    const transform = new CounterModeTransform(
      engine,
      deriveSessionKeys(engine.counter(MASTER_KEY), MASTER_SALT, 'rtcp'),
    )
    assert.ok(transform.protectRtcp(bytes, start, end, 1))
    assert.deepEqual(bytes.subarray(start, end + 14), sealed)
    assert.ok(transform.unprotectRtcp(bytes, start, end, 1))
    assert.deepEqual(bytes.subarray(start, end), plain)
  })
}
