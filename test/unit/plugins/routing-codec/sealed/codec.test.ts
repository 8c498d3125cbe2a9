/** The sealed codec keeps the contract, has the documented form, and turns strangers away before it computes. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkRoutingCodec } from '../../../../../core/testing/routing-codec.ts'
import { parseAddress } from '../../../../../core/wire/address.ts'
import { toBase32 } from '../../../../../plugins/routing-codec/sealed/base32.ts'
import { fromPortable, SealedCodec } from '../../../../../plugins/routing-codec/sealed/codec.ts'

const FIRST = { id: 7, key: '000102030405060708090a0b0c0d0e0f' }
const SECOND = { id: 200, key: 'F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF' }
const KEYS = { first: [FIRST], second: [SECOND], both: [SECOND, FIRST] }
const ROUTE = {
  cluster: 3,
  address: parseAddress('10.0.0.5:3478')!,
  session: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]),
}

checkRoutingCodec('sealed', (keys) => new SealedCodec(KEYS[keys]))

// The same id under another key: only the tag tells them apart.
checkRoutingCodec('sealed with one id for two keys', (keys) => {
  if (keys === 'both') return new SealedCodec(KEYS.both)
  return new SealedCodec(keys === 'first' ? [FIRST] : [SECOND, { id: FIRST.id, key: '0'.repeat(32) }])
})

const decode = (codec: SealedCodec, text: string) => {
  const bytes = Buffer.from(text)
  return codec.decode(bytes, 0, bytes.length, 'ufrag')
}

test('74 characters for IPv4 and 93 for IPv6, version and key id in front', () => {
  const codec = new SealedCodec([FIRST])
  const v6 = { ...ROUTE, address: parseAddress('[2001:db8::1]:9')! }
  for (const label of ['ufrag', 'call'] as const) {
    assert.equal(codec.encode(ROUTE, label).length, 74)
    assert.equal(codec.encode(v6, label).length, 93)
    assert.ok(codec.encode(ROUTE, label).startsWith(toBase32(Uint8Array.from([1, 7, 0])).slice(0, 3)))
  }
})

test('a text shows nothing of its route, and two of the same route are unlike', () => {
  const codec = new SealedCodec([FIRST])
  const texts = new Set(Array.from({ length: 50 }, () => codec.encode(ROUTE, 'ufrag').slice(4)))
  assert.equal(texts.size, 50)
  assert.equal(new Set(Array.from(texts, (text) => text.slice(0, 16))).size, 50)
})

test('replaced keys count from then on', () => {
  const codec = new SealedCodec([FIRST])
  const old = codec.encode(ROUTE, 'ufrag')
  codec.replace([SECOND, FIRST])
  assert.ok(decode(codec, old))
  const fresh = codec.encode(ROUTE, 'ufrag')
  codec.replace([SECOND])
  assert.equal(decode(codec, old), undefined)
  assert.ok(decode(codec, fresh))
})

test('another version is not understood', () => {
  const codec = new SealedCodec([FIRST])
  const text = codec.encode(ROUTE, 'ufrag')
  // The version's eight bits are the first character and three bits of the second.
  assert.equal(decode(codec, `b${text.slice(1)}`), undefined)
})

test('a session that is none is refused at encoding', () => {
  const codec = new SealedCodec([FIRST])
  assert.throws(() => codec.encode({ ...ROUTE, session: new Uint8Array(7) }, 'ufrag'), /8 bytes/)
})

describe('in another thread', () => {
  test('its texts are counted with the first one’s', () => {
    const here = new SealedCodec(KEYS.first)
    const there = fromPortable(structuredClone(here.portable.data))
    decode(there, here.encode(ROUTE, 'ufrag'))
    decode(there, 'none')
    const { encoded, decoded, refused } = here.counters.read()
    assert.deepEqual([encoded[FIRST.id], decoded[FIRST.id], refused.malformed], [1, 1, 1])
  })
  test('a change of keys is told, and is in what the next one is made from', () => {
    const here = new SealedCodec(KEYS.first)
    let told = 0
    const stop = here.portable.onChange!(() => told++)
    here.replace(KEYS.both)
    const there = fromPortable(structuredClone(here.portable.data))
    assert.ok(decode(there, here.encode(ROUTE, 'ufrag')))
    assert.deepEqual(there.keyIds, [SECOND.id, FIRST.id])
    stop()
    here.replace(KEYS.first)
    assert.equal(told, 1)
  })
  test('nothing else makes one', () => {
    for (const data of [undefined, {}, { keys: '[]', counters: new ArrayBuffer(8) }]) {
      assert.throws(() => fromPortable(data), TypeError)
    }
  })
})
