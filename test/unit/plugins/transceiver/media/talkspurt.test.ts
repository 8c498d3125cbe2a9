import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SLOT_TICKS, Talkspurt } from '../../../../../plugins/transceiver/media/talkspurt.ts'

describe('a talkspurt', () => {
  test('begins at once with three frames, after two slots with fewer', () => {
    assert.ok(new Talkspurt().due(1, 60))
    const patient = new Talkspurt()
    assert.deepEqual(
      [1, 2, 3].map((slot) => patient.due(slot, 20)),
      [false, false, true],
    )
    const empty = new Talkspurt()
    assert.deepEqual(
      [1, 2, 3, 4].map((slot) => empty.due(slot, 0)),
      [false, false, false, false],
    )
    assert.equal(empty.due(5, 20), false, 'slots with nothing queued counted as waiting')
  })

  test('says once that it begins, and begins anew after its end', () => {
    const spurt = new Talkspurt()
    assert.equal(spurt.takeFirst(), false)
    spurt.due(1, 60)
    assert.ok(spurt.active)
    assert.deepEqual([spurt.takeFirst(), spurt.takeFirst()], [true, false])
    spurt.end()
    assert.equal(spurt.active, false)
    assert.deepEqual(
      [2, 3, 4].map((slot) => spurt.due(slot, 20)),
      [false, false, true],
    )
    assert.ok(spurt.takeFirst())
  })

  test('goes on without a gap after a late slot, and with one after skipped slots', () => {
    const spurt = new Talkspurt()
    spurt.due(1, 200)
    assert.equal(spurt.advance(SLOT_TICKS / 2), SLOT_TICKS)
    assert.ok(spurt.due(1, 200) && !spurt.isOver(1))
    assert.ok(spurt.due(2, 200) && spurt.isOver(2))
    assert.equal(spurt.advance(SLOT_TICKS), 1.5 * SLOT_TICKS)
    assert.ok(spurt.due(50, 200))
    assert.equal(spurt.advance(SLOT_TICKS), 50 * SLOT_TICKS)
  })

  test('does not go back in time when it begins within the last one’s last packet', () => {
    const spurt = new Talkspurt()
    spurt.due(1, 200)
    spurt.advance(3 * SLOT_TICKS)
    spurt.end()
    assert.equal(spurt.due(2, 200), false)
    assert.ok(spurt.due(4, 200))
    assert.equal(spurt.advance(SLOT_TICKS), 4 * SLOT_TICKS)
  })
})
