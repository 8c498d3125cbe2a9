/** The page's turns from what it is told and hears: with a parrot, and with a loopback, which tells nothing. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  floorOf,
  type Input,
  latencyOf,
  median,
  NOTHING,
  step,
} from '../../../../plugins/demo/public/turns.js'
import { got, level, run } from './inputs.ts'

/** You speak from 1000 to 2000; the parrot notices after 600 ms and is heard from 2700 on. */
const PARROT_TURN: readonly Input[] = [
  got(500, 'session.created', { session: {} }),
  level('begins', 'you', 1000),
  got(1140, 'input_audio_buffer.speech_started', { audio_start_ms: 900, item_id: 'item_1' }),
  level('ends', 'you', 2000),
  got(2620, 'input_audio_buffer.speech_stopped', { audio_end_ms: 1900, item_id: 'item_1' }, 2000),
  got(2620, 'input_audio_buffer.committed', { item_id: 'item_1' }, 2000),
  got(2621, 'response.created', { response: { id: 'resp_1', status: 'in_progress' } }),
  got(2621, 'response.output_item.added', {
    response_id: 'resp_1',
    item: { id: 'item_2', type: 'message', role: 'assistant' },
  }),
  got(2640, 'output_audio_buffer.started', { response_id: 'resp_1' }),
  level('begins', 'edge', 2700, 2000),
]

/** You begin again at 3500, and it is silent from 3680 on. */
const PARROT_CUT: readonly Input[] = [
  level('begins', 'you', 3500),
  got(3630, 'input_audio_buffer.speech_started', { audio_start_ms: 3400, item_id: 'item_3' }),
  got(3631, 'output_audio_buffer.cleared', { response_id: 'resp_1' }),
  got(3632, 'conversation.item.truncated', { item_id: 'item_2', content_index: 0, audio_end_ms: 980 }),
  got(3633, 'response.done', { response: { id: 'resp_1', status: 'cancelled' } }),
  level('ends', 'edge', 3680),
]

describe('turns with a parrot', () => {
  it('are yours and its own, with the latency as it was heard and the pause apart', () => {
    const state = run([
      ...PARROT_TURN,
      got(3600, 'response.done', { response: { id: 'resp_1', status: 'completed' } }),
      got(4000, 'output_audio_buffer.stopped', { response_id: 'resp_1' }),
      level('ends', 'edge', 4060),
    ])
    const [yours, answer, ...more] = state.turns
    assert.deepEqual(more, [])
    assert.deepEqual([yours?.who, yours?.startMs, yours?.endMs], ['you', 1000, 2000])
    assert.deepEqual([answer?.who, answer?.startMs, answer?.endMs], ['edge', 2700, 4060])
    assert.deepEqual(answer?.latency, { totalMs: 700, noticeMs: 620, answerMs: 80 })
    assert.equal(answer?.cut, undefined)
    assert.deepEqual(latencyOf(state), { count: 1, totalMs: 700, noticeMs: 620, answerMs: 80 })
  })

  it('say who has the floor at each moment', () => {
    const floors: string[] = []
    let state = NOTHING
    for (const input of [...PARROT_TURN, ...PARROT_CUT]) {
      state = step(state, input)
      if (floors.at(-1) !== floorOf(state)) floors.push(floorOf(state))
    }
    assert.deepEqual(floors, ['nobody', 'you', 'nobody', 'thinking', 'edge', 'you'])
  })

  it('show what was cut off: what was played, and how soon it was silent', () => {
    const state = run([...PARROT_TURN, ...PARROT_CUT])
    assert.equal(state.turns.length, 3)
    assert.deepEqual(state.turns[1]?.cut, { playedMs: 980, silentAfterMs: 180 })
    assert.equal(state.turns[1]?.endMs, 3680)
    assert.equal(state.turns[2]?.startMs, 3500)
  })

  it('show an answer that was cut off before its first sound', () => {
    const state = run([
      ...PARROT_TURN.slice(0, 8),
      got(2630, 'input_audio_buffer.speech_started', { item_id: 'item_3' }),
      got(2631, 'output_audio_buffer.cleared', { response_id: 'resp_1' }),
    ])
    assert.deepEqual(
      state.turns.map(({ who, cut }) => [who, cut?.playedMs]),
      [
        ['you', undefined],
        ['you', undefined],
        ['edge', 0],
      ],
    )
  })

  it('take the sound that is heard before the event that tells of it', () => {
    const [started, sound] = PARROT_TURN.slice(-2)
    const state = run([...PARROT_TURN.slice(0, -2), sound!, { ...started!, at: 2730 } as Input])
    assert.equal(state.turns.at(-1)?.latency?.totalMs, 700)
  })

  it('are dated by what is heard, also where the event is quicker', () => {
    const [began, started, ...rest] = PARROT_CUT
    const state = run([...PARROT_TURN, started!, began!, ...rest])
    assert.equal(state.turns[2]?.startMs, 3500)
    assert.equal(state.turns[1]?.cut?.silentAfterMs, 180)
  })

  it('measure nothing where no end of speech, or no sound, was heard', () => {
    const unheard = run(PARROT_TURN.slice(0, -1))
    assert.equal(unheard.turns.at(-1)?.latency, undefined)
    assert.equal(latencyOf(unheard), undefined)
    const unasked = run([
      got(0, 'session.created'),
      got(100, 'output_audio_buffer.started'),
      level('begins', 'edge', 150),
    ])
    assert.equal(unasked.turns.length, 1)
    assert.equal(unasked.turns[0]?.latency, undefined)
  })

  it('make no turn of a sound that the other side took for none', () => {
    const state = run([
      got(0, 'session.created'),
      level('begins', 'you', 1000),
      level('ends', 'you', 1100),
      level('begins', 'edge', 1500),
    ])
    assert.deepEqual(state.turns, [])
  })

  it('end with the call', () => {
    const state = run([...PARROT_TURN, { type: 'over', at: 3000 }])
    assert.equal(state.turns.at(-1)?.endMs, 3000)
    assert.equal(floorOf(state), 'nobody')
  })
})

describe('turns with a loopback, which tells nothing', () => {
  it('are what is heard: the echo, and how far it is behind', () => {
    const inputs = [
      level('begins', 'you', 1000),
      level('begins', 'edge', 1080, 1080),
      level('ends', 'you', 2000),
      level('ends', 'edge', 2080),
    ]
    assert.equal(floorOf(run(inputs.slice(0, 2))), 'both')
    const state = run(inputs)
    assert.deepEqual(
      state.turns.map(({ who, startMs, endMs, behindMs, latency }) => [
        who,
        startMs,
        endMs,
        behindMs,
        latency,
      ]),
      [
        ['you', 1000, 2000, undefined, undefined],
        ['edge', 1080, 2080, 80, undefined],
      ],
    )
    assert.equal(floorOf(state), 'nobody')
  })

  it('have a latency where the answer comes after your speech', () => {
    const state = run([
      level('begins', 'you', 1000),
      level('begins', 'edge', 2300, 2000),
      level('ends', 'you', 2000),
      level('ends', 'edge', 3000),
      level('begins', 'edge', 3500, 2000),
    ])
    assert.deepEqual(state.turns[1]?.latency, { totalMs: 300, noticeMs: undefined, answerMs: undefined })
    assert.equal(state.turns[2]?.latency, undefined)
  })

  it('go over into told ones where a backend is late', () => {
    const state = run([
      level('begins', 'you', 1000),
      got(1100, 'session.created'),
      got(1150, 'input_audio_buffer.speech_started', { item_id: 'a' }),
    ])
    assert.deepEqual(
      state.turns.map(({ who, startMs }) => [who, startMs]),
      [['you', 1000]],
    )
  })

  it('take an event that comes back for nothing that was said', () => {
    const event = { type: 'conversation.item.create', item: { role: 'user', content: [{ text: 'a' }] } }
    assert.deepEqual(run([{ type: 'received', at: 0, event }]).turns, [])
  })
})

describe('the reducer', () => {
  it('takes any event', () => {
    const odd = [undefined, null, 7, 'x', [], {}, { id: null }, { type: 'message' }]
    const types = [
      ...['error', 'response.done', 'response.created', 'output_audio_buffer.started', 'toString'],
      ...['output_audio_buffer.cleared', 'conversation.item.truncated', 'response.output_item.done'],
      ...['input_audio_buffer.committed', 'response.output_text.delta', 'response.output_item.added'],
    ]
    let state = NOTHING
    for (const a of odd) {
      state = step(state, { type: 'received', at: 0, event: a })
      state = step(state, { type: 'sent', at: 0, event: { type: 'conversation.item.create', item: a } })
      for (const type of types)
        state = step(
          state,
          got(0, type, { item: a, response: a, error: a, response_id: a, delta: a, item_id: a }),
        )
    }
    assert.ok(state.turns.every(({ text }) => typeof text === 'string'))
  })

  it('forgets the oldest of very many turns', () => {
    const errors = Array.from({ length: 500 }, (_, i) => got(i, 'error', { error: { message: `${i}` } }))
    const { turns } = run(errors)
    assert.equal(turns.length, 200)
    assert.equal(turns.at(-1)?.text, '499')
  })

  it('has a median of nothing, of one, of two', () => {
    assert.deepEqual([median([]), median([3]), median([9, 1]), median([5, 1, 3])], [undefined, 3, 5, 3])
  })
})
