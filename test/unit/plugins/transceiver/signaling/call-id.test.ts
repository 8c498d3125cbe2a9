import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Route } from '../../../../../core/index.ts'
import { Address } from '../../../../../core/index.ts'
import { SealedCodec } from '../../../../../plugins/routing-codec/sealed/codec.ts'
import {
  MAX_CALL_ID,
  makeCallId,
  parseCallId,
  sameSecret,
} from '../../../../../plugins/transceiver/signaling/call-id.ts'

const codec = new SealedCodec([{ id: 1, key: '00112233445566778899aabbccddeeff' }])
const route: Route = { cluster: 1, address: new Address(), session: Buffer.from('0123456789abcdef', 'hex') }
const secret = Buffer.from('00112233445566778899aabbccddeeff', 'hex')

describe('call id', () => {
  it('carries a route and a secret there and back', () => {
    const id = makeCallId(codec, route, secret)
    assert.match(id, /^rtc_[a-z0-9]+$/)
    const parsed = parseCallId(codec, id)
    assert.deepEqual(parsed?.route.session, route.session)
    assert.deepEqual(Buffer.from(parsed?.secret ?? []), secret)
  })

  it('refuses a secret of the wrong length', () => {
    assert.throws(() => makeCallId(codec, route, secret.subarray(1)), RangeError)
  })

  it('does not take a ufrag for a call, whatever secret is put behind it', () => {
    const ufrag = codec.encode(route, 'ufrag')
    for (const text of [ufrag, `rtc_${ufrag}`, `rtc_${ufrag}${secret.toString('hex')}`]) {
      assert.equal(parseCallId(codec, text), undefined, text)
    }
  })

  it('has one spelling only', () => {
    const id = makeCallId(codec, route, secret)
    const others = [
      id.toUpperCase(),
      ` ${id}`,
      `${id} `,
      `${id}\n`,
      `${id}/`,
      id.slice(1),
      id.slice(0, -1),
      `${id}0`,
    ]
    others.push(`${id.slice(0, -2)}FF`, id.replace('rtc_', 'rtc-'), `${id}${'0'.repeat(MAX_CALL_ID)}`, '')
    for (const text of others) assert.equal(parseCallId(codec, text), undefined, JSON.stringify(text))
  })

  it('is total on any text', () => {
    const nearly = fc.string({ unit: 'binary', maxLength: 200 }).map((text) => `rtc_${text}`)
    const lower = fc.stringMatching(/^rtc_[a-z0-9]{36,140}$/)
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearly, lower), (text) => {
        assert.equal(parseCallId(codec, text), undefined)
      }),
      { numRuns: 3000 },
    )
  })

  it('is another call’s, or none, when one character of it changes', () => {
    const id = makeCallId(codec, route, secret)
    for (let i = 0; i < id.length; i++) {
      const changed = id.slice(0, i) + (id[i] === '2' ? '3' : '2') + id.slice(i + 1)
      const parsed = parseCallId(codec, changed)
      const inSecret = i >= id.length - 32
      assert.equal(parsed !== undefined, inSecret, changed)
      if (parsed) assert.equal(sameSecret(parsed.secret, secret), false)
    }
  })

  it('compares secrets of any length', () => {
    assert.equal(sameSecret(secret, Buffer.from(secret)), true)
    assert.equal(sameSecret(secret, secret.subarray(1)), false)
    assert.equal(sameSecret(secret, Buffer.alloc(16)), false)
  })
})
