import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SLOT_TICKS, Talkspurt } from '../../../../../plugins/transceiver/media/talkspurt.ts'

describe('a talkspurt', () => {
  test('begins when its cushion is queued, else when that has been waited for', () => {
    assert.ok(new Talkspurt().due(1, 60, 40))
    assert.ok(new Talkspurt().due(1.3, 20, 0), 'without a cushion it waits for nothing')
    const patient = new Talkspurt()
    assert.deepEqual(
      [1, 2, 3].map((slot) => patient.due(slot, 20, 40)),
      [false, false, true],
    )
    const between = new Talkspurt()
    assert.deepEqual(
      [1.4, 2, 2.5, 3].map((slot) => between.due(slot, 20, 40)),
      [false, false, false, true],
    )
    const empty = new Talkspurt()
    assert.deepEqual(
      [1, 2, 3, 4].map((slot) => empty.due(slot, 0, 40)),
      [false, false, false, false],
    )
    assert.equal(empty.due(5, 20, 40), false, 'slots with nothing queued counted as waiting')
  })

  test('waits for a slot’s worth before it begins with less', () => {
    const short = new Talkspurt()
    assert.deepEqual(
      [short.due(1.2, 5, 0), short.due(1.7, 15, 0), short.due(1.7, 20, 0)],
      [false, false, true],
    )
    const shorter = new Talkspurt()
    assert.deepEqual([shorter.due(1, 5, 0), shorter.due(2, 5, 0)], [false, true])
  })

  test('says once that it begins, and begins anew after its end', () => {
    const spurt = new Talkspurt()
    assert.equal(spurt.takeFirst(), false)
    spurt.due(1, 60, 40)
    assert.ok(spurt.active)
    assert.deepEqual([spurt.takeFirst(), spurt.takeFirst()], [true, false])
    spurt.end()
    assert.equal(spurt.active, false)
    assert.deepEqual(
      [2, 3, 4].map((slot) => spurt.due(slot, 20, 40)),
      [false, false, true],
    )
    assert.ok(spurt.takeFirst())
  })

  test('catches up after a late slot, and skips what it missed after many', () => {
    const spurt = new Talkspurt()
    spurt.due(1, 200, 0)
    assert.equal(spurt.advance(SLOT_TICKS / 2), SLOT_TICKS)
    assert.ok(spurt.due(1, 200, 0) && !spurt.isOver(1))
    assert.ok(spurt.due(3, 200, 0))
    assert.deepEqual(
      [spurt.advance(SLOT_TICKS), spurt.advance(SLOT_TICKS)],
      [1.5 * SLOT_TICKS, 2.5 * SLOT_TICKS],
    )
    assert.ok(spurt.due(3, 200, 0))
    spurt.advance(SLOT_TICKS)
    assert.equal(spurt.due(3, 200, 0), false)
    assert.ok(spurt.due(50, 200, 0))
    assert.equal(spurt.advance(SLOT_TICKS), 50 * SLOT_TICKS)
  })

  test('is over when its last packet has sounded, counted from when in its slot it began', () => {
    const onTime = new Talkspurt()
    onTime.due(1, 20, 0)
    onTime.advance(SLOT_TICKS)
    assert.deepEqual([onTime.silentMs(1), onTime.isOver(1), onTime.isOver(2)], [-20, false, true])
    const between = new Talkspurt()
    between.due(1.5, 20, 0)
    between.advance(SLOT_TICKS)
    assert.ok(Math.abs(between.silentMs(3) - 10) < 1e-9)
    assert.deepEqual([between.isOver(2), between.isOver(2.5), between.isOver(3)], [false, false, true])
    between.advance(SLOT_TICKS, false)
    assert.ok(Math.abs(between.silentMs(3) - 10) < 1e-9, 'silence counted as sound')
  })

  test('does not go back in time when it begins within the last one’s last packet', () => {
    const spurt = new Talkspurt()
    spurt.due(1, 200, 0)
    spurt.advance(3 * SLOT_TICKS)
    spurt.end()
    assert.equal(spurt.due(2, 200, 0), false)
    assert.ok(spurt.due(4, 200, 0))
    assert.equal(spurt.advance(SLOT_TICKS), 4 * SLOT_TICKS)
  })
})
