/** The page's plain words for lengths and for turns. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Turn } from '../../../../plugins/demo/public/turns.js'
import { clock, length, remarks, sentence } from '../../../../plugins/demo/public/words.js'

const ANSWER: Turn = { id: 1, who: 'edge', kind: 'speech', startMs: 1000, endMs: 2400, text: '' }

describe('words', () => {
  it('say a length as a person reads it', () => {
    assert.deepEqual([0.4, 620, 999.4, 999.6, 1449, 59_900, 59_960, 125_000].map(length), [
      ...['0 ms', '620 ms', '999 ms', '1.0 s', '1.4 s', '59.9 s', '1:00', '2:05'],
    ])
    assert.deepEqual([-5, 0, 7900, 61_000].map(clock), ['0:00', '0:00', '0:07', '1:01'])
  })

  it('say how an answer came and ended', () => {
    const latency = { totalMs: 712, noticeMs: 620, answerMs: 92 }
    assert.deepEqual(remarks(ANSWER), { came: undefined, cut: undefined })
    assert.equal(remarks({ ...ANSWER, latency }).came, '712 ms after you')
    assert.equal(remarks({ ...ANSWER, behindMs: 64 }).came, '64 ms behind you')
    assert.equal(remarks({ ...ANSWER, cut: {} }).cut, 'cut off')
    assert.equal(remarks({ ...ANSWER, cut: { playedMs: 0 } }).cut, 'cut off before its first sound')
    assert.equal(
      remarks({ ...ANSWER, cut: { playedMs: 980.4, silentAfterMs: 180 } }).cut,
      'cut off after 980 ms, silent 180 ms after you began',
    )
  })

  it('make a sentence of a turn for those who do not see it', () => {
    assert.equal(sentence(ANSWER), 'Edge: spoke for 1.4 s')
    const cut = { playedMs: 980 }
    assert.equal(sentence({ ...ANSWER, text: 'Hi.', cut }), 'Edge, cut off after 980 ms: Hi.')
    assert.equal(sentence({ ...ANSWER, kind: 'tool', text: 'f({})' }), 'Edge calls f({}).')
  })
})
