import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REPLAY_WINDOW, ReplayWindow } from '../../../../../plugins/transceiver/media/replay-window.ts'

test('the window is at least RFC 3711’s 64', () => {
  assert.ok(REPLAY_WINDOW >= 64)
})

test('an index is fresh once, and never when older than the window', () => {
  const window = new ReplayWindow()
  for (const index of [0, 1, 5, 4, 63, 64, 31, 32, 200]) {
    assert.ok(window.isFresh(index), String(index))
    window.accept(index)
    assert.ok(!window.isFresh(index), String(index))
  }
  window.accept(1000)
  assert.ok(window.isFresh(1000 - REPLAY_WINDOW + 1))
  assert.ok(!window.isFresh(1000 - REPLAY_WINDOW))
  assert.ok(!window.isFresh(200))
})

test('it agrees with a plain set over random walks, also beyond 2^32', () => {
  let seed = 7
  const random = (n: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return (seed >>> 8) % n
  }
  for (const base of [0, 2 ** 32 - 500, 2 ** 47]) {
    const window = new ReplayWindow()
    const seen = new Set<number>()
    let highest = base
    for (let i = 0; i < 20000; i++) {
      const index = Math.max(base, highest + (random(50) === 0 ? random(600) : random(300) - 250))
      const fresh = index > window.highest || (!seen.has(index) && highest - index < REPLAY_WINDOW)
      assert.equal(window.isFresh(index), fresh, `${index} below ${highest}`)
      if (!fresh) continue
      window.accept(index)
      seen.add(index)
      highest = Math.max(highest, index)
    }
  }
})
