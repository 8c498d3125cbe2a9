import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateIndex, rolloverOf } from '../../../../../plugins/transceiver/media/rtp-index.ts'

test('a new stream begins with a rollover counter of 0', () => {
  assert.equal(estimateIndex(-1, 0), 0)
  assert.equal(estimateIndex(-1, 65535), 65535)
})

test('every index within 2^15 of the highest one is estimated as it was sent', () => {
  for (const highest of [0, 1, 32767, 32768, 65535, 65536, 65537, 98304, 131071, 131072, 2 ** 40 + 65530]) {
    for (const step of [-32767, -32766, -1000, -3, -1, 0, 1, 2, 5, 1000, 32766, 32767]) {
      const index = highest + step
      if (index >= 0) assert.equal(estimateIndex(highest, index % 65536), index, `${highest} + ${step}`)
    }
  }
})

test('a packet from before the stream began has no index', () => {
  assert.equal(estimateIndex(3, 65530), -1)
  assert.equal(estimateIndex(65536 + 3, 65530), 65530)
})

test('the rollover counter counts past 2^16', () => {
  assert.equal(rolloverOf(65535), 0)
  assert.equal(rolloverOf(65536), 1)
  assert.equal(rolloverOf(65536 * 70000 + 5), 70000)
})
