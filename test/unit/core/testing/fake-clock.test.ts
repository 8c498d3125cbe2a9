/** Time moves only by `advance`, and timers run at their own time, in order. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../core/testing/fake-clock.ts'

test('timers run in order of time, at their time', () => {
  const clock = new FakeClock(0)
  const log: string[] = []
  clock.after(30, () => log.push(`c ${clock.now()}`))
  clock.after(10, () => log.push(`a ${clock.now()}`))
  clock.every(20, () => log.push(`b ${clock.now()}`))
  clock.advance(9)
  assert.deepEqual(log, [])
  clock.advance(31)
  assert.deepEqual(log, ['a 10', 'b 20', 'c 30', 'b 40'])
  assert.equal(clock.now(), 40)
  assert.equal(clock.pending, 1)
})

test('what a timer sets up runs in the same advance when it falls due', () => {
  const clock = new FakeClock(0)
  const at: number[] = []
  clock.after(10, () => clock.after(10, () => at.push(clock.now())))
  clock.advance(50)
  assert.deepEqual(at, [20])
})

test('a cancelled timer does not run, cancelled from within another either', () => {
  const clock = new FakeClock(0)
  let ran = 0
  const cancel = clock.after(10, () => ran++)
  clock.after(5, cancel)
  const stop = clock.every(1, () => {
    ran++
    stop()
  })
  clock.advance(100)
  assert.equal(ran, 1)
  assert.equal(clock.pending, 0)
  assert.throws(() => clock.every(0, () => {}), /never let time pass/)
})

test('a stall lets time pass and nothing run', () => {
  const clock = new FakeClock(0)
  const ran: number[] = []
  clock.after(10, () => ran.push(clock.now()))
  clock.stall(30)
  assert.deepEqual([ran, clock.now()], [[], 30])
  clock.advance(0)
  assert.deepEqual(ran, [30])
})
