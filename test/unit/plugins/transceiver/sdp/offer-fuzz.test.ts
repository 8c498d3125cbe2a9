import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { EdgeError, toAddress } from '../../../../../core/index.ts'
import { writeAnswer } from '../../../../../plugins/transceiver/sdp/answer.ts'
import { parseOffer } from '../../../../../plugins/transceiver/sdp/offer.ts'
import { OFFER_NAMES, offerText } from './offers.ts'

const OURS = {
  ufrag: 'abcd',
  pwd: 'p'.repeat(32),
  fingerprint: 'AB',
  candidates: [toAddress('127.0.0.1', 3478)!],
  ssrc: 1,
  cname: 'c',
  sessionId: '1',
}

/** Reads and answers; returns how long it took in milliseconds. Anything but an `EdgeError` is thrown on. */
function answer(text: string): number {
  const began = performance.now()
  try {
    const sdp = writeAnswer(parseOffer(text), OURS)
    // Nothing of the client's may add a line to the answer.
    for (const line of sdp.trimEnd().split('\r\n')) assert.match(line, /^[a-z]=[ -~]+$/)
  } catch (error) {
    if (!(error instanceof EdgeError)) throw error
    assert.ok(['invalid_sdp', 'no_audio', 'unsupported_offer'].includes(error.code))
    assert.ok(error.message.length < 500 && error.message.endsWith('.'), error.message)
  }
  return performance.now() - began
}

const offers = OFFER_NAMES.map(offerText)
const lines = offers.flatMap((text) => text.split('\r\n'))

/** One change to an offer. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(), length: fc.nat(200) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(),
    text: fc.string({ unit: 'binary', maxLength: 50 }),
  }),
  fc.record({ kind: fc.constant('line' as const), at: fc.nat(), text: fc.constantFrom(...lines) }),
  fc.record({
    kind: fc.constant('byte' as const),
    at: fc.nat(),
    text: fc.constantFrom(...' \r\n\t\0:=/*9-\u2028é'),
  }),
)

test('mutations of real offers: only an EdgeError ever comes out', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...offers),
      fc.array(change, { minLength: 1, maxLength: 8 }),
      (offer, changes) => {
        let text = offer
        for (const c of changes) {
          const at = c.at % (text.length + 1)
          if (c.kind === 'delete') text = text.slice(0, at) + text.slice(at + c.length)
          else if (c.kind === 'line')
            text = `${text.slice(0, text.indexOf('\n', at) + 1)}${c.text}\r\n${text.slice(text.indexOf('\n', at) + 1)}`
          else text = text.slice(0, at) + c.text + text.slice(c.kind === 'byte' ? at + 1 : at)
        }
        answer(text)
      },
    ),
    { numRuns: 5000, seed: 1 },
  )
})

test('lines at random: only an EdgeError ever comes out', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...lines), { maxLength: 80 }), (some) => {
      answer(['v=0', ...some].join('\r\n'))
    }),
    { numRuns: 3000, seed: 2 },
  )
})

test('no 64 KB of anything takes long: its cost grows with its length, not with its square', () => {
  const attributes = [...new Set(lines.map((l) => /^a=[^: ]+:?|^[b-z]=/.exec(l)?.[0] ?? 'a='))]
  const fillers = [
    '0',
    'a',
    ' ',
    '-',
    '[',
    '[]',
    ' [',
    '0.',
    '0 ',
    'a=',
    '/0',
    '0:',
    '\t',
    ' send ',
    'send recv;',
    'id=',
  ]
  const head = ['imageattr', 'simulcast', 'ptime', 'source-filter', 'floorid', 'mediaclk', 'framerate']
  const build = (start: string, filler: string, size: number): string =>
    `v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n${start}${filler.repeat(size / filler.length)}\r\n`
  let worst = 0
  for (const start of [
    ...attributes,
    ...head.map((h) => `a=${h}:`),
    'm=audio 9 X ',
    'a=group:BUNDLE ',
    'a=rtpmap:1 ',
  ]) {
    for (const filler of fillers) worst = Math.max(worst, answer(build(start, filler, 65_000)))
  }
  const many = [
    'a=x',
    'a=rtpmap:1 a/1',
    'a=extmap:1 a',
    'a=mid:1',
    'a=fingerprint:sha-256 AB',
    'a=group:BUNDLE 0',
  ]
  for (const line of many) {
    worst = Math.max(
      worst,
      answer(
        `v=0\r\nm=audio 9 RTP/AVP 0\r\n${`${line}\r\n`.repeat(Math.min(4000, 65_000 / (line.length + 2)))}`,
      ),
    )
  }
  const formats = answer(`v=0\r\nm=audio 9 RTP/AVP ${'0 '.repeat(32_000)}\r\n`)
  // A quadratic one takes seconds; a slow machine in a bad moment does not.
  assert.ok(Math.max(worst, formats) < 1000, `${worst} ms`)
})
