/** Later offers of one peer connection: they restart ICE or say nothing new, and what they cannot change is refused. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EdgeError } from '../../../../core/index.ts'
import { IceRestarts } from '../../../../plugins/transceiver/ice/restarts.ts'
import { Negotiation } from '../../../../plugins/transceiver/negotiation.ts'
import { parseOffer } from '../../../../plugins/transceiver/sdp/offer.ts'
import { type OfferOptions, randomCredentials, writeOffer } from '../../../peers/offer.ts'
import { address } from './ice/support.ts'

const FINGERPRINT = Array(32).fill('AB').join(':')
const OFFER: OfferOptions = { ...randomCredentials(), fingerprint: FINGERPRINT }
const OURS = { ufrag: 'ours0', pwd: 'p'.repeat(32) }

/** A call's negotiation, its ICE, and how often that was restarted. */
function begun(first: OfferOptions = OFFER) {
  const offer = parseOffer(writeOffer(first))
  const negotiation = new Negotiation(offer, {
    fingerprint: Array(32).fill('CD').join(':'),
    candidates: [address('192.0.2.1:3478')],
    ssrc: 1234,
    cname: 'cname',
    sessionId: '42',
  })
  let count = 0
  const restarts = new IceRestarts({
    local: OURS,
    remote: offer.ice,
    random: (length) => new Uint8Array(length).fill(count),
    newUfrag: () => `ours${++count}`,
    dropUfrag: () => {},
    onRestart: () => {},
  })
  const answer = (text: string): string => negotiation.answer(text, restarts)
  return { negotiation, restarts, answer, count: () => count }
}

const saying = (answer: string, attribute: string): string[] =>
  [...answer.matchAll(new RegExp(`^a=${attribute}:?(.*)\\r$`, 'gm'))].map(([, value]) => value!)

const refusal = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof EdgeError && error.code === code && message.test(error.message)

describe('a later offer', () => {
  it('with new credentials restarts ICE, and all else is as it was', () => {
    const { restarts, answer, count } = begun()
    const before = restarts.tag
    const remote = randomCredentials()
    const text = answer(writeOffer({ ...OFFER, ...remote }))
    assert.equal(count(), 1)
    assert.notEqual(restarts.tag, before)
    assert.ok(restarts.isCurrent(remote))
    assert.deepEqual(saying(text, 'ice-ufrag'), ['ours1', 'ours1'])
    assert.deepEqual(saying(text, 'ice-pwd'), [restarts.local.pwd, restarts.local.pwd])
    assert.notEqual(restarts.local.pwd, OURS.pwd)
    assert.match(text, /^o=- 42 2 IN /m)
    assert.deepEqual(saying(text, 'ssrc'), ['1234 cname:cname'])
    assert.deepEqual(saying(text, 'setup'), ['passive', 'passive'])
    assert.equal(saying(text, 'candidate').length, 1)
    assert.equal(saying(text, 'end-of-candidates').length, 1)
    assert.match(answer(writeOffer({ ...OFFER, ...randomCredentials() })), /^o=- 42 3 IN /m)
  })

  it('with the credentials that are in use, or that a lost answer was for, restarts nothing', () => {
    const { answer, count } = begun()
    assert.deepEqual(saying(answer(writeOffer(OFFER)), 'ice-ufrag'), ['ours0', 'ours0'])
    const again = writeOffer({ ...OFFER, ...randomCredentials() })
    const answers = [answer(again), answer(again)].map((text) => text.replace(/^o=.*/m, ''))
    assert.equal(answers[0], answers[1])
    assert.equal(count(), 1)
  })

  it('keeps the DTLS role that it was begun with', () => {
    const asClient = begun({ ...OFFER, setup: 'passive' })
    for (const setup of ['actpass', 'passive'] as const) {
      assert.equal(saying(asClient.answer(writeOffer({ ...OFFER, setup })), 'setup')[0], 'active')
    }
    const asServer = begun()
    assert.equal(saying(asServer.answer(writeOffer({ ...OFFER, setup: 'active' })), 'setup')[0], 'passive')
    const isRefused = refusal('not_implemented', /changes the DTLS role: make another peer connection/)
    assert.throws(() => asClient.answer(writeOffer({ ...OFFER, setup: 'active' })), isRefused)
    assert.throws(() => asServer.answer(writeOffer({ ...OFFER, setup: 'passive' })), isRefused)
  })

  it('may have more lines, which are refused as they are in the first', () => {
    const { negotiation, answer } = begun()
    const video = [
      'm=video 9 UDP/TLS/RTP/SAVPF 96',
      'c=IN IP4 0.0.0.0',
      'a=mid:2',
      'a=rtpmap:96 VP8/90000',
      '',
    ]
    const text = answer(writeOffer(OFFER) + video.join('\r\n'))
    assert.deepEqual(saying(text, 'mid'), ['0', '1', '2'])
    assert.match(text, /^m=video 0 /m)
    assert.equal(negotiation.mid, '0')
  })

  const changes: readonly [what: string, change: Partial<OfferOptions>, first?: Partial<OfferOptions>][] = [
    ['the certificate', { fingerprint: Array(32).fill('EF').join(':') }],
    ['the audio', { payloadType: 109 }],
    ['the audio', { direction: 'sendonly' }],
    ['the data channel', { data: false }],
    ['the data channel', {}, { data: false }],
  ]
  for (const [what, change, first] of changes) {
    it(`may not change ${what}: ${JSON.stringify(change)} after ${JSON.stringify(first ?? {})}`, () => {
      const { restarts, answer, count } = begun({ ...OFFER, ...first })
      const before = restarts.tag
      const text = writeOffer({ ...OFFER, ...change, ...randomCredentials() })
      assert.throws(() => answer(text), refusal('not_implemented', new RegExp(`changes ${what}`)))
      assert.deepEqual([restarts.tag, restarts.local, count()], [before, OURS, 0])
      assert.match(answer(writeOffer({ ...OFFER, ...first })), /^o=- 42 2 IN /m)
    })
  }

  const lines: readonly [what: string, line: string, instead: string][] = [
    ['the audio', 'a=rtcp-mux\r\n', ''],
    ['the audio', 'a=extmap:1 ', 'a=extmap:2 '],
    ['the audio', 'telephone-event/48000', 'telephone-event/8000'],
    ['the data channel', 'a=sctp-port:5000', 'a=sctp-port:5001'],
    ['the data channel', 'a=max-message-size:262144', 'a=max-message-size:1024'],
  ]
  for (const [what, line, instead] of lines) {
    it(`may not change ${what}: ${line.trim()}`, () => {
      const text = writeOffer({ ...OFFER, ...randomCredentials() })
      assert.ok(text.includes(line))
      const isRefused = refusal('not_implemented', new RegExp(`changes ${what}`))
      assert.throws(() => begun().answer(text.replace(line, instead)), isRefused)
    })
  }

  it('may not change what shares one transport', () => {
    const first = { ...OFFER, data: false }
    const text = writeOffer({ ...first, ...randomCredentials() }).replace('a=group:BUNDLE 0\r\n', '')
    assert.throws(() => begun(first).answer(text), refusal('not_implemented', /changes what shares one/))
  })

  it('that is none, or without audio, is refused as a first one is', () => {
    const { answer, count } = begun()
    assert.throws(() => answer('hello'), refusal('invalid_sdp', /./))
    const silent = writeOffer({ ...OFFER, ...randomCredentials() }).replace('opus', 'speex')
    assert.throws(() => answer(silent), refusal('no_audio', /./))
    assert.equal(count(), 0)
  })
})
