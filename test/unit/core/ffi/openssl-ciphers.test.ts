import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf } from '../../../../core/ffi/native.ts'
import { Aes128Ctr, Aes128Gcm, HmacSha1 } from '../../../../core/ffi/openssl-ciphers.ts'

const KEY = Buffer.alloc(16, 3)

test('an address follows the view, not the buffer it lies in', () => {
  const pool = Buffer.alloc(100)
  const other = new Uint8Array(8)
  assert.equal(addressOf(pool.subarray(10)) - addressOf(pool), 10)
  assert.notEqual(addressOf(other), addressOf(pool))
  assert.equal(addressOf(pool.subarray(3)) - addressOf(pool), 3)
})

test('what is sealed opens, and small arrays work like large ones', () => {
  for (const size of [40, 4000]) {
    const bytes = new Uint8Array(size)
    const seal = new Aes128Gcm(KEY, 'seal')
    const open = new Aes128Gcm(KEY, 'open')
    assert.ok(seal.seal(bytes, 2, 6, 20, 0))
    assert.ok(bytes.subarray(6, 36).some((byte) => byte !== 0))
    assert.ok(open.open(bytes, 2, 6, 20, 0))
    assert.ok(bytes.subarray(0, 20).every((byte) => byte === 0))
    seal.close()
    open.close()
  }
})

test('bounds outside the buffer are refused and nothing is touched', () => {
  const bytes = Buffer.alloc(64)
  const gcm = new Aes128Gcm(KEY, 'seal')
  const ctr = new Aes128Ctr(KEY)
  const mac = new HmacSha1(Buffer.alloc(20))
  for (const [start, body, end, trailer] of [
    [-1, 4, 20, -1],
    [5, 4, 20, -1],
    [0, 21, 20, -1],
    [0, 4, 49, -1],
    [0, 4, 20, 61],
    [0, 4, 20, -2],
  ] as const) {
    assert.equal(gcm.seal(bytes, start, body, end, trailer), false)
  }
  for (const [start, end] of [
    [-1, 4],
    [5, 4],
    [0, 65],
  ] as const) {
    assert.equal(ctr.apply(bytes, start, end), false)
    assert.equal(mac.sign(bytes, start, end, -1, 0), false)
  }
  for (const at of [-1, 55]) {
    assert.equal(mac.sign(bytes, 0, 4, -1, at), false)
    assert.equal(mac.verify(bytes, 0, 4, -1, at), false)
  }
  assert.ok(bytes.every((byte) => byte === 0))
})

test('a detached buffer is refused', () => {
  const bytes = new Uint8Array(64)
  const ctr = new Aes128Ctr(KEY)
  assert.ok(ctr.apply(bytes, 0, 64))
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
  assert.equal(ctr.apply(bytes, 0, 64), false)
})

test('a closed context refuses, and closing twice is harmless', () => {
  const bytes = Buffer.alloc(64)
  const gcm = new Aes128Gcm(KEY, 'open')
  const ctr = new Aes128Ctr(KEY)
  const mac = new HmacSha1(Buffer.alloc(20))
  for (const one of [gcm, ctr, mac, gcm, ctr, mac]) one.close()
  assert.equal(gcm.open(bytes, 0, 4, 20, -1), false)
  assert.equal(ctr.apply(bytes, 0, 4), false)
  assert.equal(mac.sign(bytes, 0, 4, -1, 20), false)
})

test('a context serves one direction, and keys have 16 bytes', () => {
  const bytes = Buffer.alloc(64)
  assert.equal(new Aes128Gcm(KEY, 'seal').open(bytes, 0, 4, 20, -1), false)
  assert.equal(new Aes128Gcm(KEY, 'open').seal(bytes, 0, 4, 20, -1), false)
  assert.throws(() => new Aes128Gcm(Buffer.alloc(15), 'seal'), RangeError)
})
