import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import {
  ReportBlock,
  type RtcpHandlers,
  readRtcp,
  writeBye,
  writeCanonicalName,
  writeReceiverReport,
  writeSenderReport,
} from '../../../../../plugins/transceiver/media/rtcp.ts'

/** Reads a compound into a list of what the handlers heard, or undefined when it was refused. */
function read(bytes: Uint8Array, start = 0, end = bytes.length): unknown[] | undefined {
  const heard: unknown[] = []
  const handlers: RtcpHandlers = {
    senderReport: (ssrc, ntpMiddle) => heard.push(['sender', ssrc, ntpMiddle]),
    reportBlock: (reporter, block) => heard.push(['block', reporter, { ...block }]),
    canonicalName: (ssrc, from, at, to) =>
      heard.push(['name', ssrc, Buffer.from(from).toString('utf8', at, to)]),
    bye: (ssrc) => heard.push(['bye', ssrc]),
  }
  const good = readRtcp(bytes, start, end, handlers)
  if (!good) assert.deepEqual(heard, [], 'a handler heard of a compound that was refused')
  return good ? heard : undefined
}

function block(fields: Partial<ReportBlock>): ReportBlock {
  return Object.assign(new ReportBlock(), fields)
}

const info = {
  ntpSeconds: 0xe1234567,
  ntpFraction: 0x89abcdef,
  rtpTimestamp: 0xfffffff0,
  packets: 7,
  octets: 560,
}
const about = block({
  ssrc: 0xdeadbeef,
  fractionLost: 64,
  cumulativeLost: -3,
  highestSequence: 0x0001fffe,
  jitter: 480,
  lastSenderReport: 0x456789ab,
  delaySinceLastSenderReport: 65536,
})

describe('RTCP compounds', () => {
  test('come back as they were written', () => {
    const bytes = new Uint8Array(200).fill(0xaa)
    let at = writeSenderReport(bytes, 3, 0x11223344, info, about)
    assert.equal(at, 55)
    at = writeCanonicalName(bytes, at, 0x11223344, Buffer.from('näme'))
    at = writeBye(bytes, at, 0x11223344)
    assert.equal(bytes[at], 0xaa)
    assert.equal((at - 3) % 4, 0)
    assert.deepEqual(read(bytes, 3, at), [
      ['sender', 0x11223344, 0x456789ab],
      ['block', 0x11223344, { ...about }],
      ['name', 0x11223344, 'näme'],
      ['bye', 0x11223344],
    ])
    const end = writeReceiverReport(bytes, 0, 5, undefined)
    assert.deepEqual([end, read(bytes, 0, end)], [8, []])
  })

  test('are byte for byte what RFC 3550 §6.4.1 draws', () => {
    const bytes = Buffer.alloc(52)
    writeSenderReport(
      bytes,
      0,
      1,
      info,
      block({
        ssrc: 2,
        fractionLost: 1,
        cumulativeLost: 2,
        highestSequence: 3,
        jitter: 4,
        lastSenderReport: 5,
        delaySinceLastSenderReport: 6,
      }),
    )
    const words = ['81c8000c', '00000001', 'e1234567', '89abcdef', 'fffffff0', '00000007', '00000230']
    const blocks = ['00000002', '01000002', '00000003', '00000004', '00000005', '00000006']
    assert.equal(bytes.toString('hex'), [...words, ...blocks].join(''))
  })

  test('names of every length are padded to whole words and end in a null', () => {
    for (let length = 0; length <= 255; length++) {
      const bytes = new Uint8Array(300).fill(0xaa)
      const end = writeCanonicalName(bytes, 0, 9, Buffer.alloc(length, 'x'))
      assert.equal(end % 4, 0)
      assert.equal(bytes[end - 1], 0)
      assert.deepEqual(read(bytes, 0, end), [['name', 9, 'x'.repeat(length)]])
    }
  })

  test('losses are kept to 24 bits', () => {
    for (const [lost, kept] of [
      [9_000_000, 0x7fffff],
      [-9_000_000, -0x800000],
    ] as const) {
      const bytes = new Uint8Array(32)
      writeReceiverReport(bytes, 0, 1, block({ cumulativeLost: lost }))
      assert.deepEqual(read(bytes), [['block', 1, { ...block({ cumulativeLost: kept }) }]])
    }
  })

  test('pass over other types, extensions and items', () => {
    const feedback = Buffer.from('81ce000200000001000000020a0b0c0d'.slice(0, 24), 'hex')
    const extended = Buffer.from('80c90002000000070badcafe', 'hex')
    const items = Buffer.from('81ca0005000000090203616263010178040100000000000000'.slice(0, 48), 'hex')
    assert.deepEqual(read(Buffer.concat([extended, feedback])), [])
    assert.deepEqual(read(items), [['name', 9, 'x']])
  })

  test('are refused whole when one length is wrong', () => {
    const good = new Uint8Array(16)
    writeBye(good, writeReceiverReport(good, 0, 1, undefined), 1)
    assert.deepEqual(read(good), [['bye', 1]])
    // Where in the receiver's report (0–7) or the goodbye (8–15) which byte is spoilt.
    const bad: [string, ...[at: number, byte: number][]][] = [
      ['version 1 behind', [8, 0x41]],
      ['a length past the end', [11, 2]],
      ['more goodbyes than fit', [8, 0x82]],
      ['a block that is not there', [0, 0x81]],
      ['padding before the end', [0, 0xa0]],
      ['padding of nothing', [8, 0xa0], [15, 0]],
      ['padding of no whole word', [8, 0xa0], [15, 3]],
    ]
    for (const [what, ...spoilt] of bad) {
      const bytes = good.slice()
      for (const [at, byte] of spoilt) bytes[at] = byte
      assert.equal(read(bytes), undefined, what)
    }
    assert.equal(read(good, 0, 14), undefined, 'a torn end')
    assert.equal(read(good, 0, 0), undefined, 'nothing')
    assert.equal(read(good, 0, 99), undefined, 'an end behind the bytes')
  })

  test('never throw, and end, whatever the bytes', () => {
    const random = new Prng(2)
    let taken = 0
    for (let i = 0; i < 50_000; i++) {
      const bytes = random.bytes(4 * random.below(24))
      for (let at = 0; at + 4 <= bytes.length; at += 4 + 4 * bytes[at + 3]!) {
        bytes[at] = 0x80 | (bytes[at]! & 0x23)
        bytes[at + 1] = 200 + (bytes[at + 1]! & 7)
        bytes[at + 2] = 0
        bytes[at + 3] = Math.min(bytes[at + 3]! & 15, (bytes.length - at) / 4 - 1)
      }
      if (read(bytes)) taken++
    }
    assert.ok(taken > 1000, `only ${taken} were taken, which tests little`)
  })
})
