import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Cushion, MOST_CUSHION_MS } from '../../../../../plugins/transceiver/media/cushion.ts'

describe('the cushion', () => {
  test('is nothing at first, and grows by what frames are late by, up to 60 ms', () => {
    const cushion = new Cushion()
    assert.equal(cushion.ms, 0)
    cushion.late(13)
    assert.equal(cushion.ms, 20)
    cushion.late(21)
    assert.equal(cushion.ms, MOST_CUSHION_MS)
    cushion.late(150)
    assert.equal(cushion.ms, MOST_CUSHION_MS)
  })

  test('takes neither what nobody hears nor a pause for an underrun', () => {
    const cushion = new Cushion()
    for (const ms of [-100, 0, 5, 200, 5000]) cushion.late(ms)
    assert.equal(cushion.ms, 0)
  })

  test('goes a slot at a time, while the last slot was of no use for 10 s', () => {
    const cushion = new Cushion()
    cushion.late(35)
    const sizes: number[] = []
    for (let ms = 0; ms < 30_000; ms += 20) {
      cushion.inTime(cushion.ms - 4, 20)
      sizes.push(cushion.ms)
    }
    assert.deepEqual([sizes[498], sizes[499], sizes[998], sizes[999], sizes.at(-1)], [40, 20, 20, 0, 0])
  })

  test('stays while it is needed, and an underrun begins the watch anew', () => {
    const cushion = new Cushion()
    cushion.late(20)
    const calm = (ms: number, spareMs: number): void => {
      for (let at = 0; at < ms; at += 20) cushion.inTime(spareMs, 20)
    }
    for (let round = 0; round < 10; round++) {
      calm(9000, 20)
      cushion.inTime(14, 20)
      calm(980, 20)
    }
    assert.equal(cushion.ms, 20, 'its last 6 ms were used')
    calm(9000, 20)
    cushion.late(10)
    calm(9000, 40)
    assert.equal(cushion.ms, 40)
    calm(1000, 40)
    assert.equal(cushion.ms, 20)
  })
})
