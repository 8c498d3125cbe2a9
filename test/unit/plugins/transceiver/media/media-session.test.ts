import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loopback } from '../../../../../plugins/inference-bridge/loopback/bridge.ts'
import {
  ReportBlock,
  readRtcp,
  writeBye,
  writeReceiverReport,
  writeSenderReport,
} from '../../../../../plugins/transceiver/media/rtcp.ts'
import { INITIAL, MediaRig } from './media-rig.ts'

const silk20 = (n: number): Uint8Array => Uint8Array.of(8, n)

/** Reads a report of ours. */
function read(bytes: Buffer) {
  const found = {
    type: bytes[1],
    reporter: bytes.readUInt32BE(4),
    sender: undefined as number | undefined,
    block: undefined as ReportBlock | undefined,
    name: '',
  }
  const good = readRtcp(bytes, 0, bytes.length, {
    senderReport: (_ssrc, middle) => {
      found.sender = middle
    },
    reportBlock: (_ssrc, block) => {
      found.block = Object.assign(new ReportBlock(), block)
    },
    canonicalName: (_ssrc, from, start, end) => {
      found.name = Buffer.from(from.subarray(start, end)).toString()
    },
    bye: () => {},
  })
  assert.ok(good, 'our own report is no RTCP')
  return found
}

describe('reports', () => {
  test('are a receiver’s while nothing is sent, and name us', () => {
    const rig = new MediaRig('opus')
    rig.session.report(rig.time.now())
    for (const sequence of [1, 2, 4]) rig.receive(sequence, 960 * sequence, silk20(sequence))
    rig.time.advance(1000)
    rig.session.report(rig.time.now())
    const [empty, full] = rig.reports.map(read)
    assert.deepEqual(
      [empty!.type, empty!.reporter, empty!.block, empty!.name],
      [201, 0xcafe, undefined, 'edge'],
    )
    const { ssrc, fractionLost, cumulativeLost, highestSequence } = full!.block!
    assert.deepEqual([full!.type, ssrc, fractionLost, cumulativeLost, highestSequence], [201, 7, 64, 1, 4])
  })

  test('are a sender’s while it sends and once more, with the instant’s timestamp', () => {
    const rig = new MediaRig('opus')
    rig.session.start()
    for (let n = 0; n < 3; n++) void rig.session.play({ data: silk20(n), durationMs: 20 })
    rig.time.advance(1010)
    for (let i = 0; i < 3; i++) {
      rig.session.report(rig.time.now())
      rig.time.advance(1000)
    }
    assert.deepEqual(
      rig.reports.map((bytes) => bytes[1]),
      [200, 200, 201],
    )
    const [first, second] = rig.reports
    assert.deepEqual([first!.readUInt32BE(20), first!.readUInt32BE(24)], [3, 6])
    const ticks = (second!.readUInt32BE(16) - first!.readUInt32BE(16)) >>> 0
    assert.equal(ticks, 48_000)
    assert.equal(first!.readUInt32BE(16), (INITIAL.timestamp + 48 * 1010) % 2 ** 32)
    const ntp = (bytes: Buffer): number => bytes.readUInt32BE(8) + bytes.readUInt32BE(12) / 2 ** 32
    assert.ok(Math.abs(ntp(second!) - ntp(first!) - 1) < 1e-6)
    const unix = (ntp(first!) - 2208988800) * 1000
    assert.ok(Math.abs(unix - (performance.timeOrigin + 6010)) < 1)
  })

  test('give the round trip, from our report and the peer’s answer to it', () => {
    const rig = new MediaRig('opus')
    rig.session.start()
    void rig.session.play({ data: silk20(1), durationMs: 20 })
    rig.time.advance(100)
    rig.session.report(rig.time.now())
    const block = new ReportBlock()
    block.ssrc = 0xcafe
    block.cumulativeLost = 5
    block.jitter = 480
    block.lastSenderReport = read(rig.reports[0]!).sender!
    block.delaySinceLastSenderReport = 65536
    const answer = Buffer.alloc(32)
    writeReceiverReport(answer, 0, 7, block)
    rig.time.advance(1000 + 75)
    rig.receiveRtcp(answer)
    const { roundTripMs, peerLost, peerJitterMs } = rig.session.stats
    assert.ok(Math.abs(roundTripMs! - 75) < 0.1, `${roundTripMs} ms`)
    assert.deepEqual([peerLost, peerJitterMs], [5, 10])
    block.ssrc = 0xbeef
    block.cumulativeLost = 99
    writeReceiverReport(answer, 0, 7, block)
    rig.receiveRtcp(answer)
    assert.equal(rig.session.stats.peerLost, 5, 'a block about somebody else')
  })

  test('carry the peer’s sender report back, and note its goodbye', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 0, silk20(1))
    const theirs = Buffer.alloc(36)
    const info = { ntpSeconds: 0x12345678, ntpFraction: 0x9abcdef0, rtpTimestamp: 0, packets: 1, octets: 2 }
    writeBye(theirs, writeSenderReport(theirs, 0, 7, info, undefined), 7)
    rig.receiveRtcp(theirs)
    rig.time.advance(250)
    rig.session.report(rig.time.now())
    const { lastSenderReport, delaySinceLastSenderReport } = read(rig.reports[0]!).block!
    assert.deepEqual([lastSenderReport, delaySinceLastSenderReport], [0x56789abc, 16384])
    assert.ok(rig.session.stats.saidBye)
    rig.receiveRtcp(Buffer.from('not rtcp'))
    assert.equal(rig.session.stats.malformed, 1)
  })
})

test('loopback’s audio comes back as it went, through real pacing', async () => {
  const rig = new MediaRig(loopback.audio)
  rig.session.start()
  const spoken = Array.from({ length: 50 }, (_, n) => silk20(n))
  for (const [n, packet] of spoken.entries()) {
    rig.receive(n, 960 * n, packet)
    await rig.session.play(rig.frames[n]!)
    rig.time.advance(20)
  }
  rig.time.advance(200)
  assert.deepEqual(
    rig.sent.map(({ payload }) => new Uint8Array(payload)),
    spoken,
  )
  assert.deepEqual(
    rig.sent.map(({ at }) => at - rig.sent[0]!.at),
    spoken.map((_, n) => 20 * n),
  )
})
