/** Peers that must not get in: wrong or no proof, no binding to the transcript, no common SRTP profile. */

import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { DtlsConnection, EdgeError } from '../../../../../core/index.ts'
import { DtlsEndpoint, type Fingerprint } from '../../../../../plugins/transceiver/peer/dtls.ts'
import { identity, ours, Pair, type PairOptions, theirs, wrongFingerprint } from './dtls-pair.ts'

let live = 0
beforeEach(() => {
  live = DtlsConnection.live
})
afterEach(() => assert.equal(DtlsConnection.live, live, 'no connection is left'))

/** Connects, lets both sides speak, and checks that `refuser` gave out nothing. */
function refused(refuser: 'server' | 'client', options: PairOptions): string {
  const pair = new Pair(options).connect()
  pair.say('client', 'listen to me')
  pair.say('server', 'listen to me')
  const side = pair[refuser]
  assert.equal(side.endpoint.state, 'failed')
  assert.deepEqual(side.keys, [])
  assert.deepEqual(side.messages, [])
  assert.equal(side.ends.length, 1)
  assert.ok(!side.fresh.includes(true))
  pair.close()
  return side.ends[0]!
}

test('a client whose certificate has another fingerprint', () => {
  assert.match(refused('server', { serverExpects: wrongFingerprint }), /certificate verify failed/)
  assert.match(refused('server', { client: identity(), serverExpects: theirs.fingerprints }), /verify failed/)
})

test('a server whose certificate has another fingerprint', () => {
  assert.match(refused('client', { clientExpects: wrongFingerprint }), /certificate verify failed/)
  assert.match(refused('client', { server: identity(), clientExpects: ours.fingerprints }), /verify failed/)
})

test('a client without a certificate', () => {
  const client = identity({}, false)
  assert.match(refused('server', { client }), /peer did not return a certificate/)
})

test('a peer with no SRTP profile of ours', () => {
  const client = identity({ srtpProfiles: 'SRTP_AES128_CM_SHA1_32' })
  assert.match(refused('server', { client }), /no SRTP profile in common/)
})

test('an honest peer that does not know the extended master secret, in either role', () => {
  const old = identity({ extendedMasterSecret: false })
  assert.match(refused('server', { client: old }), /extended master secret/)
  assert.match(refused('client', { server: old }), /extended master secret/)
})

test('of several fingerprints one must be right', () => {
  const pair = new Pair({ serverExpects: [...wrongFingerprint, ...theirs.fingerprints] }).connect()
  assert.equal(pair.server.endpoint.state, 'connected')
  pair.close()
})

test('a fingerprint counts in lower case and with its algorithm in upper case', () => {
  const [{ value }] = theirs.fingerprints as [Fingerprint]
  const pair = new Pair({ serverExpects: [{ algorithm: 'SHA-256', value: value.toLowerCase() }] }).connect()
  assert.equal(pair.server.endpoint.state, 'connected')
  pair.close()
})

const useless: [string, Fingerprint[]][] = [
  ['none at all', []],
  ['SHA-1 only', [{ algorithm: 'sha-1', value: `AA${':AA'.repeat(19)}` }]],
  ['a short one', [{ algorithm: 'sha-256', value: 'AA:BB' }]],
  ['a long one', [{ algorithm: 'sha-256', value: '00'.repeat(40) }]],
  ['not hex', [{ algorithm: 'sha-256', value: 'zz'.repeat(32) }]],
  ['not ASCII', [{ algorithm: 'sha-256', value: 'é'.repeat(64) }]],
]
for (const [name, fingerprints] of useless) {
  test(`an offer without a usable fingerprint: ${name}`, () => {
    const make = () =>
      new DtlsEndpoint({
        role: 'server',
        fingerprints,
        context: ours.context,
        send() {},
        onConnected() {},
        onMessage() {},
        onClosed() {},
      })
    assert.throws(make, (error) => {
      assert.ok(error instanceof EdgeError)
      assert.equal(error.code, 'unsupported_offer')
      assert.match(error.message, /sha-256/)
      return true
    })
  })
}
