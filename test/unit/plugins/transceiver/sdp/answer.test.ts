import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Address, toAddress } from '../../../../../core/index.ts'
import { type AnswerOptions, writeAnswer } from '../../../../../plugins/transceiver/sdp/answer.ts'
import { parseOffer } from '../../../../../plugins/transceiver/sdp/offer.ts'
import { audioOnly, OFFER_NAMES, offerText, without } from './offers.ts'

const at = (host: string, port: number): Address => toAddress(host, port)!

const OPTIONS: AnswerOptions = {
  ufrag: 'u'.repeat(90),
  pwd: 'p'.repeat(32),
  fingerprint: Array.from({ length: 32 }, () => 'AB').join(':'),
  candidates: [
    at('203.0.113.1', 3478),
    at('203.0.113.1', 443),
    at('198.51.100.7', 3478),
    at('2001:db8::7', 3478),
  ],
  ssrc: 4_000_000_000,
  cname: '0123456789abcdef',
  sessionId: '1234567890',
}

const answer = (offer: string, options: Partial<AnswerOptions> = {}): string =>
  writeAnswer(parseOffer(offer), { ...OPTIONS, ...options })

const section = (sdp: string, index: number): string[] => `${sdp}`.split(/(?=^m=)/m)[index + 1]!.split('\r\n')

test("answers Chrome's offer", () => {
  assert.deepEqual(answer(offerText('chrome'), { ufrag: 'ufrag', pwd: 'password' }).split('\r\n'), [
    'v=0',
    'o=- 1234567890 1 IN IP4 0.0.0.0',
    's=-',
    't=0 0',
    'a=ice-lite',
    'a=group:BUNDLE 0 1',
    'm=audio 3478 UDP/TLS/RTP/SAVPF 111 110 126',
    'c=IN IP4 203.0.113.1',
    'a=mid:0',
    'a=ice-ufrag:ufrag',
    'a=ice-pwd:password',
    `a=fingerprint:sha-256 ${OPTIONS.fingerprint}`,
    'a=setup:passive',
    'a=candidate:1 1 udp 2130706431 203.0.113.1 3478 typ host',
    'a=candidate:1 1 udp 2130706175 203.0.113.1 443 typ host',
    'a=candidate:2 1 udp 2130705919 198.51.100.7 3478 typ host',
    'a=candidate:3 1 udp 2130705663 2001:db8::7 3478 typ host',
    'a=end-of-candidates',
    'a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level',
    'a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtcp-rsize',
    'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;useinbandfec=1',
    'a=rtpmap:110 telephone-event/48000',
    'a=rtpmap:126 telephone-event/8000',
    'a=msid:0123456789abcdef 0123456789abcdef',
    'a=ssrc:4000000000 cname:0123456789abcdef',
    'm=application 3478 UDP/DTLS/SCTP webrtc-datachannel',
    'c=IN IP4 203.0.113.1',
    'a=mid:1',
    'a=ice-ufrag:ufrag',
    'a=ice-pwd:password',
    `a=fingerprint:sha-256 ${OPTIONS.fingerprint}`,
    'a=setup:passive',
    'a=sctp-port:5000',
    'a=max-message-size:262144',
    '',
  ])
})

test('every answer is CRLF throughout and at the end, has its m-lines in order, and fits 2048 bytes', () => {
  for (const name of OFFER_NAMES) {
    const offer = parseOffer(offerText(name))
    const sdp = writeAnswer(offer, OPTIONS)
    assert.ok(sdp.endsWith('\r\n') && !/[^\r]\n|\r[^\n]/.test(sdp), name)
    assert.deepEqual(
      [...sdp.matchAll(/^m=(\S+)/gm)].map((m) => m[1]),
      offer.media.map((m) => m.type),
    )
    assert.ok(Buffer.byteLength(sdp) <= 2048, `${name}: ${Buffer.byteLength(sdp)} bytes`)
    assert.doesNotMatch(sdp, /ufrag .* typ|typ host ./, 'no extension in a candidate line')
  }
})

test('werift fault 14: ice-lite stands once, in the session', () => {
  const sdp = answer(offerText('chrome'))
  assert.equal(sdp.match(/a=ice-lite/g)?.length, 1)
  assert.ok(sdp.indexOf('a=ice-lite') < sdp.indexOf('m='))
})

test("werift fault 15: the fmtp is ours, not the client's", () => {
  const sdp = answer(offerText('firefox'))
  assert.match(sdp, /a=fmtp:109 minptime=10;useinbandfec=1\r\n/)
  assert.doesNotMatch(sdp, /stereo|maxplaybackrate/)
})

test('directions are mirrored, and what does not send has no source', () => {
  for (const [offered, answered] of [
    ['sendrecv', 'sendrecv'],
    ['sendonly', 'recvonly'],
    ['recvonly', 'sendonly'],
    ['inactive', 'inactive'],
  ] as const) {
    const lines = section(answer(offerText('chrome').replace('a=sendrecv', `a=${offered}`)), 0)
    assert.ok(lines.includes(`a=${answered}`))
    assert.equal(
      lines.some((l) => l.startsWith('a=ssrc')),
      answered === 'sendrecv' || answered === 'sendonly',
    )
  }
})

test('a refused line keeps its place with port 0; candidates go to the first accepted one', () => {
  const sdp = answer(offerText('chrome-video'))
  assert.deepEqual(section(sdp, 0), [
    'm=video 0 UDP/TLS/RTP/SAVPF 96',
    'c=IN IP4 0.0.0.0',
    'a=mid:0',
    'a=inactive',
    '',
  ])
  assert.match(sdp, /a=group:BUNDLE 1 2\r\n/)
  assert.ok(section(sdp, 1).some((l) => l.startsWith('a=candidate')))
  assert.equal(
    section(sdp, 2).some((l) => l.startsWith('a=candidate')),
    false,
  )
})

test('without mids there is no mid and no BUNDLE', () => {
  assert.doesNotMatch(answer(without(audioOnly(), /^a=mid/)), /a=mid|BUNDLE/)
  assert.doesNotMatch(answer(without(audioOnly(), /^a=rtcp-/)), /rtcp-mux|rtcp-rsize/)
})

test('a passive offer is answered active', () => {
  assert.match(answer(offerText('esp32')), /a=setup:active/)
})

test('IPv6 alone is the default destination', () => {
  const lines = section(answer(offerText('chrome'), { candidates: [at('2001:db8::1', 3478)] }), 0)
  assert.equal(lines[1], 'c=IN IP6 2001:db8::1')
})
