import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import { RtpHeader, readRtp, writeRtp } from '../../../../../plugins/transceiver/media/rtp.ts'

const header = new RtpHeader()

function read(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  return readRtp(bytes, start, end, header)
}

/** A packet with a first byte, words between header and payload, and a payload. */
function packet(first: number, between: number[], payload: number[]): Uint8Array {
  return Uint8Array.of(first, 0x6f, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, ...between, ...payload)
}

describe('RTP headers', () => {
  test('come back as they were written', () => {
    const bytes = new Uint8Array(40).fill(0xaa)
    assert.equal(writeRtp(bytes, 5, 111, true, 0xfffe, 0xfedcba98, 0x89abcdef), 17)
    assert.ok(read(bytes, 5, 30))
    const { payloadType, marker, sequence, timestamp, ssrc, payloadStart, payloadEnd } = header
    assert.deepEqual(
      [payloadType, marker, sequence, timestamp, ssrc, payloadStart, payloadEnd],
      [111, true, 0xfffe, 0xfedcba98, 0x89abcdef, 17, 30],
    )
    assert.deepEqual([bytes[4], bytes[17]], [0xaa, 0xaa])
  })

  test('may have contributors, an extension and padding, each within the packet', () => {
    const one = [0, 0, 0, 9]
    assert.ok(read(packet(0x82, [...one, ...one], [7])))
    assert.deepEqual([header.payloadStart, header.payloadEnd], [20, 21])
    assert.ok(read(packet(0x90, [0xbe, 0xde, 0, 1, ...one], [7])))
    assert.equal(header.payloadStart, 20)
    assert.ok(read(packet(0x91, [...one, 0xbe, 0xde, 0, 0], [7])))
    assert.equal(header.payloadStart, 20)
    assert.ok(read(packet(0xa0, [], [7, 0, 0, 3])))
    assert.deepEqual([header.payloadStart, header.payloadEnd], [12, 13])
    assert.ok(read(packet(0xa0, [], [0, 0, 3])))
    assert.deepEqual([header.payloadStart, header.payloadEnd], [12, 12], 'padding alone is a packet')
  })

  test('are refused when a length does not fit', () => {
    const bad: [string, Uint8Array][] = [
      ['nothing', new Uint8Array(0)],
      ['eleven bytes', packet(0x80, [], []).subarray(0, 11)],
      ['version 1', packet(0x40, [], [7])],
      ['more contributors than bytes', packet(0x8f, [0, 0, 0, 9], [7])],
      ['an extension without its length', packet(0x90, [0xbe, 0xde], [])],
      ['an extension longer than the packet', packet(0x90, [0xbe, 0xde, 0xff, 0xff], [7])],
      ['padding of nothing', packet(0xa0, [], [7, 0])],
      ['padding longer than the payload', packet(0xa0, [], [7, 3])],
      ['padding without a payload', packet(0xa0, [], [])],
      ['padding that reaches into the extension', packet(0xb0, [0xbe, 0xde, 0, 0], [2])],
    ]
    for (const [what, bytes] of bad) assert.equal(read(bytes), false, what)
    assert.equal(read(packet(0x80, [], [7]), 0, 99), false, 'an end behind the bytes')
    assert.equal(read(packet(0x80, [], [7]), 5, 2), false, 'an end before the start')
  })

  test('never throw, and never point outside, whatever the bytes', () => {
    const random = new Prng(1)
    for (let i = 0; i < 50_000; i++) {
      const bytes = random.bytes(random.below(60))
      if (bytes.length > 0 && i % 4 > 0) bytes[0] = 0x80 | (bytes[0]! & 63)
      const start = random.below(4)
      if (!read(bytes, start, bytes.length)) continue
      assert.ok(header.payloadStart >= start + 12 && header.payloadStart <= header.payloadEnd)
      assert.ok(header.payloadEnd <= bytes.length)
    }
  })
})
