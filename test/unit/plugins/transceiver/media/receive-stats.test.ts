import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ReceiveStats, roundTripMs } from '../../../../../plugins/transceiver/media/receive-stats.ts'
import { ReportBlock } from '../../../../../plugins/transceiver/media/rtcp.ts'

function report(stats: ReceiveStats, now = 0): ReportBlock {
  const block = new ReportBlock()
  assert.ok(stats.report(now, block))
  return block
}

describe('receiver statistics', () => {
  test('say nothing of a source that has not been heard', () => {
    assert.equal(new ReceiveStats().report(0, new ReportBlock()), false)
  })

  test('count loss since the beginning and in the interval (RFC 3550 A.3)', () => {
    const stats = new ReceiveStats()
    for (const sequence of [100, 101, 103, 104, 106, 107, 108, 109]) stats.packet(0, sequence, 0)
    // Ten expected, two missing: 2 · 256 / 10 = 51.2.
    assert.deepEqual([report(stats).fractionLost, stats.lost], [51, 2])
    for (const sequence of [110, 111, 112, 115]) stats.packet(0, sequence, 0)
    // Six more expected, two more missing: 2 · 256 / 6 = 85.3.
    const block = report(stats)
    assert.deepEqual([block.fractionLost, block.cumulativeLost, block.highestSequence], [85, 4, 115])
    assert.equal(report(stats).fractionLost, 0, 'an interval without packets')
  })

  test('count late packets as come and duplicates as more than expected', () => {
    const stats = new ReceiveStats()
    for (const sequence of [1, 3, 2, 3, 3]) stats.packet(0, sequence, 0)
    const block = report(stats)
    assert.deepEqual([block.fractionLost, block.cumulativeLost, block.highestSequence], [0, -2, 3])
  })

  test('count the cycles of the sequence number', () => {
    const stats = new ReceiveStats()
    for (const sequence of [65534, 65535, 0, 2, 1, 65533]) stats.packet(0, sequence, 0)
    const block = report(stats)
    assert.equal(block.highestSequence, 0x10002)
    assert.equal(block.cumulativeLost, -1, 'the one before the first is one too many')
    for (let sequence = 3; sequence < 3 + 65536 + 5; sequence++) stats.packet(0, sequence & 0xffff, 0)
    assert.equal(report(stats).highestSequence, 0x20007)
  })

  test('reckon jitter as RFC 3550 §6.4.1 does', () => {
    const stats = new ReceiveStats()
    stats.packet(1000, 1, 0xffffff00)
    // 20 ms on in the source, 25 ms here: a difference of 240 ticks; then 20 and 20, then 20 and 10.
    stats.packet(1025, 2, (0xffffff00 + 960) >>> 0)
    assert.equal(stats.jitterMs * 48, 240 / 16)
    stats.packet(1045, 3, (0xffffff00 + 1920) >>> 0)
    assert.equal(stats.jitterMs * 48, 15 - 15 / 16)
    stats.packet(1055, 4, (0xffffff00 + 2880) >>> 0)
    const expected = 15 - 15 / 16 + (480 - (15 - 15 / 16)) / 16
    assert.equal(stats.jitterMs * 48, expected)
    assert.equal(report(stats).jitter, Math.floor(expected))
  })

  test('carry a sender report back with how long ago it was', () => {
    const stats = new ReceiveStats()
    stats.packet(0, 1, 0)
    assert.deepEqual([report(stats).lastSenderReport, report(stats).delaySinceLastSenderReport], [0, 0])
    stats.senderReport(1000, 0x89abcdef)
    const block = report(stats, 1500)
    assert.deepEqual([block.lastSenderReport, block.delaySinceLastSenderReport], [0x89abcdef, 32768])
  })

  test('forget one source for another', () => {
    const stats = new ReceiveStats()
    stats.packet(0, 10, 0)
    stats.packet(50, 20, 0)
    stats.senderReport(50, 7)
    stats.reset()
    stats.packet(100, 5000, 77)
    const { fractionLost, cumulativeLost, highestSequence, jitter, lastSenderReport } = report(stats, 100)
    assert.deepEqual(
      [fractionLost, cumulativeLost, highestSequence, jitter, lastSenderReport],
      [0, 0, 5000, 0, 0],
    )
  })

  test('give the round trip of RFC 3550 figure 2', () => {
    const block = new ReportBlock()
    block.lastSenderReport = 0xb7052000
    block.delaySinceLastSenderReport = 0x00054000
    assert.equal(roundTripMs(0xb7108000, block), 6125)
    block.lastSenderReport = 0xffffff00
    block.delaySinceLastSenderReport = 0
    assert.equal(roundTripMs(0x100, block), (0x200 * 1000) / 65536, 'across the wrap')
    assert.equal(roundTripMs(0xfffffe00, block), undefined, 'from before it was asked for')
    block.lastSenderReport = 0
    assert.equal(roundTripMs(0x100, block), undefined, 'without a sender report')
  })
})
