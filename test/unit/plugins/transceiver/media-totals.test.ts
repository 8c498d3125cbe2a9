import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MediaStats } from '../../../../plugins/transceiver/media/media-stats.ts'
import { MediaTotals } from '../../../../plugins/transceiver/media-totals.ts'

test('a call counts while it lives and after, once', () => {
  const totals = new MediaTotals()
  const [one, other] = [new MediaStats(), new MediaStats()]
  one.packetsReceived = 10
  one.concealedMs = 40
  other.packetsReceived = 5
  other.octetsSent = 300
  assert.equal(totals.sum([one, other]).packetsReceived, 15)
  totals.end(one)
  assert.equal(totals.sum([other]).packetsReceived, 15)
  assert.equal(totals.sum([other]).concealedMs, 40)
  assert.equal(totals.sum([other]).octetsSent, 300)
})

test('losses never shrink, though duplicates make a call’s own count smaller', () => {
  const totals = new MediaTotals()
  const stats = new MediaStats()
  stats.lost = 7
  stats.peerLost = 3
  assert.equal(totals.sum([stats]).lost, 7)
  stats.lost = -2
  stats.peerLost = 1
  assert.equal(totals.sum([stats]).lost, 7)
  totals.end(stats)
  assert.deepEqual([totals.sum([]).lost, totals.sum([]).peerLost], [7, 3])
})
