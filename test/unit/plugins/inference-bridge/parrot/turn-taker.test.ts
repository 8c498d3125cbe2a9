/** Turns are found where somebody speaks, whole and no longer than they were. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type TurnEvent, TurnTaker } from '../../../../../plugins/inference-bridge/parrot/turn-taker.ts'

/** Steps from a picture: `#` has a voice, `.` has none; each step's bytes say which one it is. */
function take(taker: TurnTaker, picture: string): TurnEvent[] {
  return [...picture].flatMap((mark, n) => taker.step(Buffer.of(n & 255, n >> 8), mark === '#') ?? [])
}

const times = (mark: string, count: number): string => mark.repeat(count)

describe('turns', () => {
  it('begin with a word and end with a pause', () => {
    const events = take(new TurnTaker(200), times('.', 50) + times('#', 40) + times('.', 20))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['started', 'ended'],
    )
    const [started, ended] = events
    assert.ok(started && ended?.type === 'ended')
    assert.ok(started.atMs <= 500 && started.atMs >= 440, `${started.atMs}`)
    assert.equal(ended.atMs, 900)
  })

  it('hold what was said before they were noticed, and hardly any of the pause', () => {
    const [, ended] = take(new TurnTaker(200), times('.', 50) + times('#', 40) + times('.', 20))
    assert.ok(ended?.type === 'ended')
    const numbers = ended.turn.map((step) => step.readUInt16LE())
    assert.ok(numbers[0]! <= 50 && numbers[0]! >= 20, `it begins at step ${numbers[0]}`)
    assert.equal(numbers.at(-1), 99)
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => numbers[0]! + i),
    )
  })

  it('are not made by clicks', () => {
    assert.deepEqual(take(new TurnTaker(200), (times('#', 5) + times('.', 20)).repeat(10)), [])
  })

  it('go on over pauses that are shorter', () => {
    const events = take(new TurnTaker(500), (times('#', 30) + times('.', 40)).repeat(5) + times('.', 30))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['started', 'ended'],
    )
  })

  it('end after half a minute of one breath, and the next begins', () => {
    const events = take(new TurnTaker(200), times('#', 3020))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['started', 'ended', 'started'],
    )
    const ended = events[1]!
    assert.ok(ended.type === 'ended' && ended.turn.length === 3000)
  })

  it('end when somebody says so, and only then twice', () => {
    const taker = new TurnTaker(200)
    take(taker, times('#', 30))
    assert.equal(taker.end()?.type, 'ended')
    assert.equal(taker.end(), undefined)
  })

  it('can be forgotten', () => {
    const taker = new TurnTaker(200)
    take(taker, times('#', 30))
    taker.forget()
    assert.equal(taker.end(), undefined)
    assert.deepEqual(take(taker, times('.', 30)), [])
  })
})
