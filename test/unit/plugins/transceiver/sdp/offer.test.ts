import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EdgeError, type ErrorCode } from '../../../../../core/index.ts'
import { type Offer, parseOffer } from '../../../../../plugins/transceiver/sdp/offer.ts'
import { audioOnly, OFFER_NAMES, offerText, without } from './offers.ts'

function refuses(text: string, code: ErrorCode, message: RegExp): void {
  assert.throws(
    () => parseOffer(text),
    (error) => {
      assert.ok(error instanceof EdgeError, String(error))
      assert.deepEqual([error.code, error.param], [code, 'sdp'], error.message)
      assert.match(error.message, message)
      return true
    },
  )
}

const accepted = (offer: Offer): (string | false)[] => offer.media.map((m) => m.accepted)

test("reads Chrome's offer", () => {
  const offer = parseOffer(offerText('chrome'))
  assert.deepEqual(offer.ice, { ufrag: 'NkaF', pwd: 'bjvrCw9T3FbhNTMFsjHw2h14' })
  assert.equal(offer.fingerprints.length, 1)
  assert.equal(offer.fingerprints[0]!.algorithm, 'sha-256')
  assert.match(offer.fingerprints[0]!.value, /^6B:5B:E2.*:4C$/)
  assert.deepEqual([offer.setup, offer.answerSetup, offer.bundled], ['actpass', 'passive', true])
  assert.deepEqual(offer.audio, {
    mid: '0',
    payloadType: 111,
    telephoneEvents: [110, 126],
    telephoneClockRates: [48_000, 8000],
    direction: 'sendrecv',
    audioLevelId: 1,
    extensions: [
      { id: 1, uri: 'urn:ietf:params:rtp-hdrext:ssrc-audio-level' },
      { id: 4, uri: 'urn:ietf:params:rtp-hdrext:sdes:mid' },
    ],
    rtcpMux: true,
    rtcpReducedSize: true,
  })
  assert.deepEqual(offer.data, { mid: '1', sctpPort: 5000, maxMessageSize: 262_144 })
  assert.deepEqual(accepted(offer), ['audio', 'data'])
})

test('reads the offers of other stacks', () => {
  for (const name of OFFER_NAMES) assert.doesNotThrow(() => parseOffer(offerText(name)), name)
  const firefox = parseOffer(offerText('firefox'))
  assert.deepEqual([firefox.ice.ufrag, firefox.audio.payloadType], ['9f8e7d6c', 109])
  assert.equal(firefox.fingerprints.length, 1, 'the session level fingerprint')
  assert.equal(firefox.data?.maxMessageSize, 262_144, 'no more than we send')
  const aiortc = parseOffer(offerText('aiortc'))
  assert.deepEqual(
    aiortc.fingerprints.map((f) => f.algorithm),
    ['sha-256', 'sha-512'],
  )
  assert.deepEqual([aiortc.data?.maxMessageSize, aiortc.audio.audioLevelId], [65_536, 2])
  const esp32 = parseOffer(offerText('esp32'))
  assert.deepEqual([esp32.setup, esp32.answerSetup, esp32.audio.telephoneEvents], ['passive', 'active', []])
  const obs = parseOffer(offerText('obs-whip'))
  assert.deepEqual([obs.ice.ufrag, obs.setup, obs.data], ['Qz7k', 'actpass', undefined])
  assert.deepEqual([obs.audio.direction, accepted(obs)], ['sendonly', ['audio', false]])
})

test('bundle-only lines have port 0 and take the transport of the first', () => {
  const offer = parseOffer(offerText('chrome-video'))
  assert.deepEqual(accepted(offer), [false, 'audio', 'data'])
  assert.deepEqual(offer.ice, { ufrag: 'q7Xc', pwd: 'Zb0r0ARx4wH1GfN8yQm3Vt6s' })
  assert.deepEqual([offer.audio.mid, offer.audio.audioLevelId], ['1', 14])
})

test('setup: passive is answered active; absent means actpass; holdconn is refused', () => {
  const of = (setup: string): Offer => parseOffer(offerText('chrome').replaceAll('setup:actpass', setup))
  assert.deepEqual([of('setup:active').setup, of('setup:active').answerSetup], ['active', 'passive'])
  assert.deepEqual([of('setup:passive').setup, of('setup:passive').answerSetup], ['passive', 'active'])
  const absent = parseOffer(without(offerText('chrome'), /^a=setup/))
  assert.deepEqual([absent.setup, absent.answerSetup], ['actpass', 'passive'])
  refuses(offerText('chrome').replaceAll('actpass', 'holdconn'), 'unsupported_offer', /holdconn/)
  refuses(offerText('chrome').replaceAll('actpass', 'sideways'), 'invalid_sdp', /sideways/)
})

test('what is no SDP is invalid_sdp, and says why', () => {
  refuses('', 'invalid_sdp', /must start with "v=0"/)
  refuses('<html>', 'invalid_sdp', /<html>/)
  refuses('{"type":"offer"}', 'invalid_sdp', /must start with "v=0"/)
  refuses(`v=0\r\n${'a=x\r\n'.repeat(20_000)}`, 'invalid_sdp', /65536 bytes/)
  refuses(`v=0\r\n${'é'.repeat(33_000)}`, 'invalid_sdp', /65536 bytes/)
  refuses(`v=0\r\n${'a=x\r\n'.repeat(4097)}`, 'invalid_sdp', /4096 lines/)
  refuses(
    offerText('chrome').replace('a=mid:0', 'nonsense'),
    'invalid_sdp',
    /line 16 is not of the form.*nonsense/,
  )
  for (const line of [
    'm=audio',
    'm=audio x UDP/TLS/RTP/SAVPF 111',
    'm=audio 9 RTP',
    'm=audio 99999 RTP/AVP 0',
  ]) {
    refuses(offerText('chrome').replace(/m=audio.*/, line), 'invalid_sdp', /line 8 is no m-line/)
  }
  const many = offerText('chrome') + 'm=video 0 RTP/AVP 0\r\n'.repeat(31)
  refuses(many, 'invalid_sdp', /more than 32 m-lines/)
  refuses(offerText('chrome').replace('a=mid:1', 'a=mid:0'), 'invalid_sdp', /two m-lines have a=mid:0/)
  refuses(offerText('chrome').replace('a=mid:1', 'a=mid:'), 'invalid_sdp', /a=mid/)
})

test('no Opus audio is no_audio: none, another codec, refused, video or data alone', () => {
  const chrome = offerText('chrome')
  refuses('v=0\r\n', 'no_audio', /no m-line at all/)
  refuses(chrome.replace('opus/48000', 'speex/16000'), 'no_audio', /no audio line of the offer has Opus/)
  refuses(chrome.replace('m=audio 9', 'm=audio 0'), 'no_audio', /is in use/)
  refuses(
    chrome.replace('m=audio 9 UDP/TLS/RTP/SAVPF 111 63', 'm=audio 9 UDP/TLS/RTP/SAVPF 63'),
    'no_audio',
    /Opus/,
  )
  refuses(chrome.replace('RTP/SAVPF', 'RTP/XYZ'), 'no_audio', /Opus/)
  refuses(chrome.replace(/m=audio[\s\S]*(?=m=application)/, ''), 'no_audio', /"application"/)
  refuses(chrome.replaceAll('m=audio', 'm=video'), 'no_audio', /"video, application"/)
})

test('no ICE credentials, or bad ones, are invalid_sdp', () => {
  const chrome = offerText('chrome')
  refuses(without(chrome, /^a=ice-(ufrag|pwd)/), 'invalid_sdp', /no ICE credentials/)
  refuses(without(chrome, /^a=ice-pwd/), 'invalid_sdp', /no ICE credentials/)
  refuses(chrome.replaceAll('NkaF', 'abc'), 'invalid_sdp', /4 to 256/)
  refuses(chrome.replaceAll('NkaF', 'a'.repeat(257)), 'invalid_sdp', /4 to 256/)
  refuses(chrome.replaceAll('bjvrCw9T3FbhNTMFsjHw2h14', 'short'), 'invalid_sdp', /22 to 256/)
})

test('credentials that look like numbers stay as they were sent', () => {
  for (const ufrag of ['12345678', '0012', '1e55', 'Infinity', '9007199254740993']) {
    assert.equal(parseOffer(offerText('chrome').replaceAll('NkaF', ufrag)).ice.ufrag, ufrag)
  }
})

test('transport attributes may stand in the session instead', () => {
  const chrome = offerText('chrome')
  const lines = chrome.split('\r\n').filter((l) => /^a=(ice-ufrag|ice-pwd|fingerprint|setup)/.test(l))
  const moved = without(chrome, /^a=(ice-ufrag|ice-pwd|fingerprint|setup)/).replace(
    'a=group',
    `${lines.slice(0, 4).join('\r\n')}\r\na=group`,
  )
  const { ice, fingerprints, setup } = parseOffer(moved)
  const plain = parseOffer(chrome)
  assert.deepEqual(
    { ice, fingerprints, setup },
    { ice: plain.ice, fingerprints: plain.fingerprints, setup: plain.setup },
  )
})

test('fingerprints: one that can be checked is needed', () => {
  const chrome = offerText('chrome')
  refuses(without(chrome, /^a=fingerprint/), 'invalid_sdp', /fingerprint/)
  refuses(chrome.replaceAll(/a=fingerprint:.*/g, 'a=fingerprint:sha-256 zz'), 'invalid_sdp', /fingerprint/)
  const sha1 = `a=fingerprint:sha-1 ${Array.from({ length: 20 }, () => 'AB').join(':')}`
  refuses(chrome.replaceAll(/a=fingerprint:.*/g, sha1), 'unsupported_offer', /it has sha-1/)
  refuses(chrome.replaceAll(/a=fingerprint:.*/g, 'a=fingerprint:sha-256 AB:CD'), 'unsupported_offer', /whole/)
  const both = parseOffer(chrome.replaceAll(/(a=fingerprint:.*)/g, `${sha1}\r\n$1`))
  assert.deepEqual(
    both.fingerprints.map((f) => f.algorithm),
    ['sha-256'],
  )
  const lower = parseOffer(
    chrome.replaceAll(/a=fingerprint:.*/g, (l) => l.toLowerCase().replace('sha-256', 'SHA-256')),
  )
  assert.deepEqual(lower.fingerprints, parseOffer(chrome).fingerprints)
})

test('audio and data without a BUNDLE of both are refused; audio beside video is not', () => {
  const chrome = offerText('chrome')
  refuses(without(chrome, /^a=group/), 'unsupported_offer', /share one transport/)
  refuses(chrome.replace('BUNDLE 0 1', 'BUNDLE 0'), 'unsupported_offer', /share one transport/)
  refuses(without(chrome, /^a=mid/), 'unsupported_offer', /share one transport/)
  const video = parseOffer(without(offerText('obs-whip'), /^a=group/))
  assert.deepEqual([video.bundled, accepted(video)], [false, ['audio', false]])
})

test('lines without mid are taken without BUNDLE', () => {
  const offer = parseOffer(without(audioOnly(), /^a=mid/))
  assert.deepEqual([offer.bundled, offer.audio.mid, offer.media[0]!.mid], [false, undefined, undefined])
})

test('of several audio lines, the first with Opus is taken', () => {
  const chrome = offerText('chrome').replace('BUNDLE 0 1', 'BUNDLE 0 1 2 3')
  const audio = chrome.slice(chrome.indexOf('m=audio'), chrome.indexOf('m=application'))
  const more = chrome + audio.replace('a=mid:0', 'a=mid:2') + audio.replace('a=mid:0', 'a=mid:3')
  assert.deepEqual(accepted(parseOffer(more)), ['audio', 'data', false, false])
  const second = more.replace('opus/48000/2', 'other/48000/2')
  assert.deepEqual(accepted(parseOffer(second)), [false, 'data', 'audio', false])
})

test('werift fault 16: fmtp without rtpmap, m=image and unknown media do no harm', () => {
  const odd = `${offerText('chrome').replace('a=rtpmap:13 CN/8000', 'a=fmtp:99 x=1')}m=image 0 udptl t38\r\nm=x-y 9 Z 0\r\n`
  assert.deepEqual(accepted(parseOffer(odd)), ['audio', 'data', false, false])
})

test('the old DTLS/SCTP data line, and one without a good port, are left out, not an error', () => {
  const old = offerText('chrome')
    .replace('UDP/DTLS/SCTP webrtc-datachannel', 'DTLS/SCTP 5000')
    .replace('a=sctp-port:5000', 'a=sctpmap:5000 webrtc-datachannel 1024')
  assert.deepEqual([parseOffer(old).data, accepted(parseOffer(old))], [undefined, ['audio', false]])
  assert.equal(parseOffer(offerText('chrome').replace('sctp-port:5000', 'sctp-port:0')).data, undefined)
  assert.equal(parseOffer(offerText('chrome').replace('sctp-port:5000', 'sctp-port:70000')).data, undefined)
})

test('max-message-size: absent is 64 KiB, 0 and huge are our own limit', () => {
  const of = (line: string): number | undefined =>
    parseOffer(offerText('chrome').replace('a=max-message-size:262144', line)).data?.maxMessageSize
  assert.deepEqual(
    [
      of('a=x'),
      of('a=max-message-size:0'),
      of('a=max-message-size:99999999999999999999'),
      of('a=max-message-size:100'),
    ],
    [65_536, 262_144, 262_144, 100],
  )
})

test('Opus may be written otherwise, and payload types that read as RTCP are not taken', () => {
  const chrome = offerText('chrome')
  assert.equal(parseOffer(chrome.replace('opus/48000/2', 'OPUS/48000')).audio.payloadType, 111)
  refuses(chrome.replaceAll('111', '72'), 'no_audio', /Opus/)
})

test('an offer that is ICE-lite itself is refused: nobody would check', () => {
  refuses(offerText('chrome').replace('a=group', 'a=ice-lite\r\na=group'), 'unsupported_offer', /ice-lite/)
})

test('bare LF and a missing last line end are read', () => {
  const lf = offerText('chrome').replaceAll('\r\n', '\n').trimEnd()
  assert.deepEqual(parseOffer(lf), parseOffer(offerText('chrome')))
})
