/** The budget of a turn: alone, a reader has all of it; with others its part; and one thing at least. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ReaderShare, TurnBudget } from '../../../core/turn-budget.ts'

/** A clock, and readers that take things which last a while until they are told to come back. */
class Turns {
  readonly #budget = new TurnBudget(10)
  #now = 0

  /** How many things of `lastsMs` a reader takes, at most. */
  take(reader: ReaderShare, lastsMs: number, most = 1000): number {
    for (let taken = 1; ; taken++) {
      const goesOn = this.#budget.take(reader, this.#now)
      this.#now += lastsMs
      if (!goesOn || taken === most) return taken
    }
  }

  next(): void {
    this.#now += 100
    this.#budget.nextTurn()
  }
}

describe('the budget of a turn', () => {
  it('lets one reader go on until it is used up, and in the next turn again', () => {
    const turns = new Turns()
    const reader = new ReaderShare()
    assert.equal(turns.take(reader, 2), 6)
    turns.next()
    assert.equal(turns.take(reader, 1), 11)
  })

  it('gives each reader one thing, however long it lasts', () => {
    const turns = new Turns()
    const [long, late] = [new ReaderShare(), new ReaderShare()]
    assert.equal(turns.take(long, 50), 2)
    assert.equal(turns.take(late, 50), 1)
  })

  it('is one for all readers: who comes when it is used up takes one thing', () => {
    const turns = new Turns()
    turns.take(new ReaderShare(), 2)
    for (let n = 0; n < 20; n++) assert.equal(turns.take(new ReaderShare(), 2), 1)
  })

  it('is divided among those who had to stop', () => {
    const turns = new Turns()
    const readers = Array.from({ length: 5 }, () => new ReaderShare())
    for (const reader of readers) turns.take(reader, 1)
    turns.next()
    assert.deepEqual(
      readers.map((reader) => turns.take(reader, 1)),
      [3, 3, 3, 3, 3],
    )
  })

  it('is a reader’s own again when the others have stopped reading', () => {
    const turns = new Turns()
    const [one, other] = [new ReaderShare(), new ReaderShare()]
    for (const reader of [one, other]) turns.take(reader, 1)
    turns.next()
    assert.equal(turns.take(one, 1), 6)
    turns.next()
    assert.equal(turns.take(one, 1), 11)
  })

  it('does not count what passes between turns, nor readers that stop by themselves', () => {
    const turns = new Turns()
    const reader = new ReaderShare()
    for (let n = 0; n < 5; n++) {
      assert.equal(turns.take(reader, 1, 3), 3)
      turns.next()
    }
    assert.equal(turns.take(reader, 1), 11)
  })
})
