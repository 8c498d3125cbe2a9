import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CallerPace, MOST_AHEAD_MS, MOST_PACE } from '../../../../../plugins/transceiver/media/caller-pace.ts'
import { MediaRig } from './media-rig.ts'

const TICKS = 48
/** 120 ms: two frames of 60. */
const LONG = Uint8Array.of(0x19, 0, 0)

describe('the pace of a caller', () => {
  test('lets any gap pass that time explains, and a burst that was held back', () => {
    const pace = new CallerPace()
    assert.equal(pace.take(0, 0, 20 * TICKS), 0)
    assert.equal(pace.take(3_600_000, 3_599_980 * TICKS, 20 * TICKS), 3_599_980 * TICKS)
    for (let n = 0; n < MOST_AHEAD_MS / 20; n++) assert.equal(pace.take(3_600_000, 0, 20 * TICKS), 0)
    assert.equal(pace.take(3_600_000, 0, 20 * TICKS), -1)
    assert.equal(pace.take(3_600_016, 0, 20 * TICKS), 0)
  })

  test('lets a clock be fast for ever, in speech and in silence', () => {
    const pace = new CallerPace()
    for (let n = 0; n < 100_000; n++) {
      const gap = n % 2 === 0 ? 0 : 380 * TICKS
      assert.equal(pace.take(210 * n * 0.9, gap, 20 * TICKS), gap)
    }
  })

  for (const [what, step] of [
    ['packets', 120],
    ['timestamps', 2000],
  ] as const) {
    test(`bounds what comes faster by its ${what}, and takes what comes in time again`, () => {
      const rig = new MediaRig('opus')
      let n = 0
      const receive = (count: number, everyMs: number): void => {
        for (const end = n + count; n < end; n++) {
          rig.receive(n, n * step * TICKS, LONG)
          rig.time.advance(everyMs)
        }
      }
      receive(1000, 2)
      const { timestampMs } = rig.frames.at(-1)!
      const most = 2000 * MOST_PACE + MOST_AHEAD_MS
      assert.ok(timestampMs! <= most && timestampMs! > most - 250, `the line is ${timestampMs} ms long`)
      const { tooFast } = rig.session.stats
      assert.equal(rig.frames.length, 1000 - tooFast)
      rig.time.advance(1000)
      receive(50, step)
      assert.equal(rig.session.stats.tooFast, tooFast)
      rig.session.close()
    })
  }
})
