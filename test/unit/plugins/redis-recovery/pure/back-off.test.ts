/** Attempts come ever later, never in step, never not at all. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backOff } from '../../../../../plugins/redis-recovery/pure/back-off.ts'

test('it doubles up to five seconds, for ever, and chance takes up to half of it away', () => {
  const waits = [1, 2, 3, 4, 7, 1_000_000].map((times) => [backOff(times, 1), backOff(times, 0)])
  assert.deepEqual(waits, [
    [50, 100],
    [100, 200],
    [200, 400],
    [400, 800],
    [2500, 5000],
    [2500, 5000],
  ])
})
