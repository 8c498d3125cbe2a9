/** Speech is heard from levels alone: clicks and a room's noise are none, and what is said is dated back. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Hearing } from '../../../../plugins/demo/public/hearing.js'

type Edge = { type: 'begins' | 'ends'; at: number }

/** Levels, each for so many milliseconds, a sample each 10 ms. Gives what was heard. */
function hear(
  levels: readonly [decibels: number, ms: number][],
  hearing = new Hearing({ noisy: true }),
): Edge[] {
  const edges: Edge[] = []
  let at = 0
  for (const [decibels, ms] of levels) {
    for (const end = at + ms; at < end; at += 10) {
      const edge = hearing.hear(at, decibels)
      if (edge) edges.push(edge)
    }
  }
  return edges
}

describe('hearing', () => {
  it('dates a beginning to the first loud sample, and an end to the last', () => {
    const edges = hear([
      [-60, 500],
      [-20, 1000],
      [-60, 1000],
    ])
    assert.deepEqual(edges, [
      { type: 'begins', at: 500 },
      { type: 'ends', at: 1490 },
    ])
  })

  it('takes a pause between words for part of what is said', () => {
    const edges = hear([
      [-20, 300],
      [-60, 300],
      [-20, 300],
      [-60, 1000],
    ])
    assert.deepEqual(edges, [
      { type: 'begins', at: 0 },
      { type: 'ends', at: 890 },
    ])
  })

  it('takes no click for speech, however many there are', () => {
    const click: [number, number][] = [
      [-60, 200],
      [-10, 20],
    ]
    assert.deepEqual(hear([...click, ...click, ...click, ...click, [-60, 500]]), [])
  })

  it('hears also when nobody has time to listen often', () => {
    const hearing = new Hearing({ noisy: true })
    const edges = [0, 120, 240, 360, 800, 1000].map((at) => hearing.hear(at, at < 400 ? -20 : -60))
    assert.deepEqual(
      edges.filter((edge) => edge),
      [
        { type: 'begins', at: 0 },
        { type: 'ends', at: 360 },
      ],
    )
  })

  it('learns how loud a room is, and hears who speaks in it', () => {
    const hearing = new Hearing({ noisy: true })
    hear([[-45, 20_000]], hearing)
    const at = 20_000
    for (let ms = 0; ms < 500; ms += 10) hearing.hear(at + ms, -45)
    assert.equal(hearing.speaks, false)
    for (let ms = 500; ms < 700; ms += 10) hearing.hear(at + ms, -25)
    assert.equal(hearing.speaks, true)
  })

  it('knows that what comes over the line has no room round it', () => {
    const hearing = new Hearing({ noisy: false })
    assert.deepEqual(hear([[-45, 60_000]], hearing), [{ type: 'begins', at: 0 }])
  })

  it('says when it was last loud, also while that goes on', () => {
    const hearing = new Hearing({ noisy: true })
    assert.equal(hearing.loudAt, undefined)
    hear([[-20, 300]], hearing)
    assert.equal(hearing.loudAt, 290)
  })
})
