import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UfragDigest } from '../../../../../plugins/relay/pure/ufrag-digest.ts'

/** HalfSipHash-2-4-64 of the bytes 0, 1, 2, … under the key 00 01 … 07, by their number: the authors' own vectors. */
const VECTORS = [
  '218d1f59b9b83cc8',
  'be552412f8387315',
  '064f39ef7c50eb57',
  'ce0f1a45f7060679',
  'd5e78a175be52ea1',
  'cb9d7c3f2f3db580',
  'ce3e91358aa2bc25',
  'ff202728b07bc684',
  'edfee820bce4858c',
  '5b51cccc13888307',
]

const bytes = Buffer.from(Array.from({ length: 96 }, (_, i) => i))

function hex(digest: UfragDigest, from: number, to: number): string {
  digest.update(bytes, from, to)
  return Buffer.from(digest.words.buffer).toString('hex')
}

test('it is HalfSipHash under each of two keys', () => {
  const digest = new UfragDigest(Int32Array.of(0x03020100, 0x07060504, 0x03020100, 0x07060504))
  for (const [length, vector] of VECTORS.entries()) assert.equal(hex(digest, 0, length), vector + vector)
})

test('the keys are two, and where the text lies does not matter', () => {
  const digest = new UfragDigest(Int32Array.of(1, 2, 3, 4))
  const whole = hex(digest, 10, 81)
  assert.notEqual(whole.slice(0, 16), whole.slice(16))
  bytes.copyWithin(11, 10, 81)
  assert.equal(hex(digest, 11, 82), whole)
})
