/** The page's turns from the events of a Realtime backend: words, tools, truncations, errors. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { floorOf, type Input, step } from '../../../../plugins/demo/public/turns.js'
import { got, level, run } from './inputs.ts'

describe('turns with a Realtime backend', () => {
  const answerOf = (id: string, item: string, at: number): Input[] => [
    got(at, 'response.created', { response: { id } }),
    got(at + 1, 'response.output_item.added', { response_id: id, item: { id: item, type: 'message' } }),
    got(at + 2, 'response.output_audio_transcript.delta', {
      response_id: id,
      item_id: item,
      delta: 'It is ',
    }),
    got(at + 20, 'output_audio_buffer.started', { response_id: id }),
    got(at + 40, 'response.output_audio_transcript.delta', {
      response_id: id,
      item_id: item,
      delta: 'sunny.',
    }),
  ]
  const asked: readonly Input[] = [
    got(0, 'session.created'),
    got(1000, 'input_audio_buffer.speech_started', { item_id: 'a' }),
    got(2000, 'input_audio_buffer.speech_stopped', { item_id: 'a' }, 1500),
    got(2001, 'input_audio_buffer.committed', { item_id: 'a' }, 1500),
  ]

  it('say what was said, however late your own words come', () => {
    const state = run([
      ...asked,
      ...answerOf('r', 'b', 2010),
      got(2100, 'conversation.item.input_audio_transcription.delta', { item_id: 'a', delta: 'Wheather' }),
      got(2200, 'conversation.item.input_audio_transcription.completed', {
        item_id: 'a',
        transcript: 'Weather?',
      }),
    ])
    assert.deepEqual(
      state.turns.map(({ who, text }) => [who, text]),
      [
        ['you', 'Weather?'],
        ['edge', 'It is sunny.'],
      ],
    )
    const whole = { response_id: 'r', item_id: 'b', transcript: 'It is very sunny.' }
    const done = step(state, got(2300, 'response.output_audio_transcript.done', whole))
    assert.equal(done.turns[1]?.text, 'It is very sunny.')
  })

  it('count the latency across a tool call, and no second answer', () => {
    const tool = { type: 'function_call', name: 'get_weather', arguments: '{"city":"Oslo"}' }
    const state = run([
      ...asked,
      got(2010, 'response.created', { response: { id: 'r1' } }),
      got(2050, 'response.output_item.done', { response_id: 'r1', item: tool }),
      got(2060, 'response.done', { response: { id: 'r1', status: 'completed' } }),
      ...answerOf('r2', 'b', 2500),
      level('begins', 'edge', 2600, 1500),
      got(3000, 'output_audio_buffer.stopped', { response_id: 'r2' }),
      level('ends', 'edge', 3050),
      ...answerOf('r3', 'c', 3200),
      level('begins', 'edge', 3300, 1500),
    ])
    assert.deepEqual(
      state.turns.map(({ kind, text }) => [kind, text]),
      [
        ['speech', ''],
        ['tool', 'get_weather({"city":"Oslo"})'],
        ['speech', 'It is sunny.'],
        ['speech', 'It is sunny.'],
      ],
    )
    assert.deepEqual(state.turns[2]?.latency, { totalMs: 1100, noticeMs: 500, answerMs: 600 })
    assert.equal(state.turns[3]?.latency, undefined)
  })

  it('take a truncation that is acknowledged late to the answer that it names', () => {
    const state = run([
      ...asked,
      ...answerOf('r1', 'b', 2010),
      level('begins', 'edge', 2100, 1500),
      got(2500, 'input_audio_buffer.speech_started', { item_id: 'c' }),
      got(2501, 'output_audio_buffer.cleared', { response_id: 'r1' }),
      got(3000, 'input_audio_buffer.speech_stopped', { item_id: 'c' }, 2900),
      ...answerOf('r2', 'd', 3100),
      got(3200, 'conversation.item.truncated', { item_id: 'b', audio_end_ms: 380 }),
    ])
    assert.deepEqual(
      state.turns.map(({ cut }) => cut?.playedMs),
      [undefined, 380, undefined, undefined],
    )
  })

  it('tell of errors, of what was typed, and of answers in writing', () => {
    const content = [{ type: 'input_text', text: 'Hello.' }]
    const item = { type: 'message', role: 'user', content }
    const state = run([
      got(0, 'session.created'),
      { type: 'sent', at: 10, event: { type: 'conversation.item.create', item } },
      got(20, 'response.created', { response: { id: 'r' } }),
      got(30, 'response.output_text.delta', { response_id: 'r', item_id: 'b', delta: 'Hi.' }),
      got(40, 'response.done', {
        response: { id: 'r', status: 'incomplete', status_details: { reason: 'x' } },
      }),
      got(50, 'error', { error: { message: 'No.' } }),
    ])
    assert.deepEqual(
      state.turns.map(({ who, kind, text }) => `${who} ${kind} ${text}`),
      ['you text Hello.', 'edge text Hi.', 'edge note x', 'edge note No.'],
    )
    assert.equal(floorOf(state), 'nobody')
  })

  it('are there for somebody who holds a button to speak', () => {
    const state = run([
      got(0, 'session.created'),
      level('begins', 'you', 1000),
      got(2000, 'input_audio_buffer.committed', { item_id: 'a' }, 1900),
      ...answerOf('r', 'b', 2010),
      level('begins', 'edge', 2100, 1900),
    ])
    assert.deepEqual([state.turns[0]?.startMs, state.turns[0]?.endMs], [1000, 1900])
    assert.equal(state.turns[1]?.latency?.totalMs, 200)
  })
})
