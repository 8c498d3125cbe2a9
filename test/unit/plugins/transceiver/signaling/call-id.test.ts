import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Route, RouteLabel, RoutingCodec } from '../../../../../core/index.ts'
import { Address } from '../../../../../core/index.ts'
import {
  MAX_CALL_ID,
  makeCallId,
  parseCallId,
  sameSecret,
} from '../../../../../plugins/transceiver/signaling/call-id.ts'

/** Says the label and the session, so that a text made for one use can be told from the other. */
const codec: RoutingCodec = {
  encode: (route: Route, label: RouteLabel) => `${label}0${Buffer.from(route.session).toString('hex')}`,
  decode(text, start, end, label) {
    const match = new RegExp(`^${label}0([0-9a-f]{16})$`).exec(
      Buffer.from(text).toString('latin1', start, end),
    )
    return match ? { cluster: 1, address: new Address(), session: Buffer.from(match[1]!, 'hex') } : undefined
  },
}
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
    const nearly = fc
      .tuple(fc.string(), fc.string())
      .map(([a, b]) => `rtc_${a}${makeCallId(codec, route, secret)}${b}`)
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nearly), (text) => {
        const parsed = parseCallId(codec, text)
        assert.ok(parsed === undefined || makeCallId(codec, parsed.route, parsed.secret) === text)
      }),
      { numRuns: 2000 },
    )
  })

  it('compares secrets of any length', () => {
    assert.equal(sameSecret(secret, Buffer.from(secret)), true)
    assert.equal(sameSecret(secret, secret.subarray(1)), false)
    assert.equal(sameSecret(secret, Buffer.alloc(16)), false)
  })
})
