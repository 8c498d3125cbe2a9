/** Base32: known texts, every length, and one text only for each byte string. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import {
  base32Length,
  firstBytes,
  fromBase32,
  toBase32,
} from '../../../../../plugins/routing-codec/sealed/base32.ts'

test('the texts of RFC 4648 §10, lower case and without padding', () => {
  const known = {
    '': '',
    f: 'my',
    fo: 'mzxq',
    foo: 'mzxw6',
    foob: 'mzxw6yq',
    fooba: 'mzxw6ytb',
    foobar: 'mzxw6ytboi',
  }
  for (const [plain, text] of Object.entries(known)) {
    assert.equal(toBase32(Buffer.from(plain)), text)
    assert.equal(base32Length(plain.length), text.length)
  }
})

test('every length comes back, from within other bytes', () => {
  const random = new Prng(4)
  for (let length = 0; length < 70; length++) {
    const bytes = random.bytes(length)
    const text = toBase32(bytes)
    const into = new Uint8Array(length)
    const around = Buffer.from(`~${text}~`)
    assert.ok(fromBase32(around, 1, 1 + text.length, into))
    assert.deepEqual(Buffer.from(into), bytes)
    if (length >= 3) assert.equal(firstBytes(around, 1), bytes.readUInt16BE(0))
  }
})

test('refuses other characters, other lengths and spare bits', () => {
  const into = new Uint8Array(1)
  const read = (text: string): boolean => fromBase32(Buffer.from(text, 'latin1'), 0, text.length, into)
  assert.ok(read('my'))
  for (const text of ['m', 'myy', 'mz', 'mY', 'm1', 'm=', 'm ', 'm\u00ff', 'm\0'])
    assert.equal(read(text), false, text)
  assert.equal(firstBytes(Buffer.from('ab!d'), 0), -1)
})
