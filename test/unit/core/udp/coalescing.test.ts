/** When a loop sleeps to gather datagrams, and when it would be for nothing. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Coalescing } from '../../../../core/udp/coalescing.ts'

/** How many of 200 turns sleep, at one turn of `taken` datagrams every `everyMs`, once the rate is known. */
function sleeps(longest: number, everyMs: number, taken: number): number {
  const coalescing = new Coalescing(longest)
  let slept = 0
  for (let turn = 0; turn < 400; turn++) {
    const microseconds = coalescing.sleep(1_000 + turn * everyMs, taken)
    assert.ok(microseconds === 0 || microseconds === longest)
    if (turn >= 200 && microseconds > 0) slept++
  }
  return slept
}

test('sleeps at a moderate rate, and not when it is off, quiet, or busy', () => {
  assert.equal(sleeps(300, 0.1, 2), 200)
  assert.equal(sleeps(0, 0.1, 2), 0)
  assert.equal(sleeps(300, 20, 1), 0)
  assert.equal(sleeps(300, 0.1, 60), 0)
  assert.equal(sleeps(300, 0.1, 0), 0)
})

test('follows the rate within one window', () => {
  const coalescing = new Coalescing(200)
  for (let at = 0; at < 100; at += 0.1) coalescing.sleep(at, 4)
  assert.equal(coalescing.sleep(100, 4), 200)
  coalescing.sleep(200, 1)
  assert.equal(coalescing.sleep(200.1, 1), 0)
})
