import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillRandom, randomBytes } from '../../../core/index.ts'

test('bytes are as many as asked for, and never the same twice, over many poolfuls', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 20_000; i++) {
    const bytes = randomBytes(8 + (i % 9))
    assert.equal(bytes.length, 8 + (i % 9))
    seen.add(bytes.toString('hex', 0, 8))
  }
  assert.equal(seen.size, 20_000)
})

test('every length is filled whole, also those that are longer than the pool', () => {
  for (const length of [0, 1, 2, 1023, 1024, 1025, 4096, 10_000]) {
    const ever = new Uint8Array(length)
    for (let round = 0; round < 12; round++) {
      const bytes = new Uint8Array(length)
      fillRandom(bytes)
      for (let i = 0; i < length; i++) ever[i]! |= bytes[i]!
    }
    // That a byte stays 0 in 12 rounds has a chance of 2^-96.
    assert.ok(ever.every((byte) => byte !== 0))
  }
})

test('all bits are about as often set as not', () => {
  const counts = new Array<number>(8).fill(0)
  for (let i = 0; i < 4000; i++) {
    for (const byte of randomBytes(10)) for (let bit = 0; bit < 8; bit++) counts[bit]! += (byte >> bit) & 1
  }
  for (const count of counts) assert.ok(Math.abs(count - 20_000) < 1200, String(counts))
})
