import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
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

test('what is not authentic is left as it was, unless it may be spoilt; neither opens it', () => {
  const seal = new Aes128Gcm(KEY, 'seal')
  const open = new Aes128Gcm(KEY, 'open')
  const bytes = new Uint8Array(48)
  assert.ok(seal.seal(bytes, 0, 4, 30, -1))
  const sealed = Uint8Array.from(bytes)
  for (let at = 0; at < 46; at++) {
    bytes[at]! ^= 1
    const changed = Uint8Array.from(bytes)
    assert.equal(open.open(bytes, 0, 4, 30, -1), false)
    assert.deepEqual(bytes, changed)
    assert.equal(open.openOrSpoil(bytes, 0, 4, 30, -1), false)
    bytes.set(sealed)
  }
  assert.ok(open.openOrSpoil(bytes, 0, 4, 30, -1))
  assert.ok(bytes.subarray(0, 30).every((byte) => byte === 0))
  assert.equal(seal.openOrSpoil(bytes, 0, 4, 30, -1), false)
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

/** What node:crypto makes of 20 bytes of zeros under 4 bytes of additional data. */
function sealedByNode(key: Buffer, iv: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-gcm', key, iv)
  cipher.setAAD(Buffer.alloc(4))
  return Buffer.concat([
    Buffer.alloc(4),
    cipher.update(Buffer.alloc(20)),
    cipher.final(),
    cipher.getAuthTag(),
  ])
}

test('keys that take turns do not mix, also when one of them is closed or refuses a packet', () => {
  const keys = [1, 2, 3].map((fill) => Buffer.alloc(16, fill))
  const seals = keys.map((key) => new Aes128Gcm(key, 'seal'))
  const opens = keys.map((key) => new Aes128Gcm(key, 'open'))
  const counters = keys.map((key) => new Aes128Ctr(key))
  for (let round = 0; round < 60; round++) {
    const i = (round * round + round) % 3
    const iv = Buffer.alloc(12, round)
    const bytes = Buffer.alloc(40)
    seals[i]!.iv.set(iv)
    assert.ok(seals[i]!.seal(bytes, 0, 4, 24, -1))
    assert.deepEqual(bytes, sealedByNode(keys[i]!, iv))
    opens[i]!.iv.set(iv)
    opens[(i + 1) % 3]!.iv.set(iv)
    assert.equal(opens[(i + 1) % 3]!.open(bytes, 0, 4, 24, -1), false, 'another key')
    assert.deepEqual(bytes, sealedByNode(keys[i]!, iv), 'refused, and as it was')
    assert.ok(opens[i]!.open(bytes, 0, 4, 24, -1))
    const vector = Buffer.alloc(16, round)
    counters[i]!.iv.set(vector)
    const stream = Buffer.alloc(24)
    assert.ok(counters[i]!.apply(stream, 0, 24))
    assert.deepEqual(stream, createCipheriv('aes-128-ctr', keys[i]!, vector).update(Buffer.alloc(24)))
    if (round !== 30) continue
    for (const list of [seals, opens, counters]) list[i]!.close()
    seals[i] = new Aes128Gcm(keys[i]!, 'seal')
    opens[i] = new Aes128Gcm(keys[i]!, 'open')
    counters[i] = new Aes128Ctr(keys[i]!)
  }
})

test('the next key after a close is its own', () => {
  const first = new Aes128Gcm(KEY, 'seal')
  const bytes = Buffer.alloc(40)
  first.iv.fill(7)
  assert.ok(first.seal(bytes, 0, 4, 24, -1))
  first.close()
  const second = new Aes128Gcm(Buffer.alloc(16, 9), 'seal')
  second.iv.fill(7)
  const other = Buffer.alloc(40)
  assert.ok(second.seal(other, 0, 4, 24, -1))
  assert.deepEqual(other, sealedByNode(Buffer.alloc(16, 9), Buffer.alloc(12, 7)))
})
