/** What becomes of a backend's audio: the rows of the table from the delta to the end of playing. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { created, delta, done, greeted, only, part, SPEECH, short, speaking, tag } from './rig.ts'

const STARTED = { type: 'started', tag: tag() } as const
const DRAINED = { type: 'drained' } as const

describe('audio of a response', () => {
  it('is over when it has been played, though the backend said that it was done before its audio came', () => {
    const translation = greeted()
    translation.fromBackend(created())
    translation.fromBackend(done())
    translation.fromBackend(delta(100))
    translation.fromPlayout({ type: 'started', tag: tag() })
    const stopped = short(translation.fromPlayout({ type: 'drained' }))
    assert.deepEqual(stopped, ['client: output_audio_buffer.stopped resp_1'])
    assert.equal(translation.fromBackend(SPEECH).length, 1, 'there is nothing left to interrupt')
  })

  it('is played under a tag of response, item and content part, and not passed on', () => {
    const translation = greeted()
    translation.fromBackend(created())
    assert.deepEqual(short(translation.fromBackend(delta(100))), ['play 100 ms of resp_1/item_1/0'])
    assert.deepEqual(short(translation.fromBackend(delta(40, 'resp_1', 'item_2', 1))), [
      'play 40 ms of resp_1/item_2/1',
    ])
  })

  it('is passed on as far as that it is done', () => {
    const translation = speaking(greeted(), 100)
    assert.deepEqual(short(translation.fromBackend(part('done'))), [
      'client: response.output_audio.done resp_1 item_1',
    ])
  })

  it('keeps half a sample for the next delta', () => {
    const translation = greeted()
    translation.fromBackend(created())
    const bytes = Buffer.from([1, 2, 3, 4, 5, 6])
    const first = { ...part('delta'), delta: bytes.subarray(0, 3).toString('base64') }
    const second = { ...part('delta'), delta: bytes.subarray(3).toString('base64') }
    const heard = [first, second].flatMap((event) => translation.fromBackend(event))
    assert.deepEqual(
      heard.map((action) => action.do === 'play' && [...action.data]),
      [
        [1, 2],
        [3, 4, 5, 6],
      ],
    )
  })

  it('is played though nobody announced the response', () => {
    assert.deepEqual(short(greeted().fromBackend(delta(20))), ['play 20 ms of resp_1/item_1/0'])
  })

  it('that is empty is nothing to play', () => {
    assert.deepEqual(greeted().fromBackend(delta(0)), [])
  })
})

describe('the output audio buffer', () => {
  it('has started when the first frame has left, once a response', () => {
    const translation = speaking(greeted(), 100)
    const event = only(translation.fromPlayout(STARTED))
    assert.deepEqual(event, {
      type: 'output_audio_buffer.started',
      event_id: event.event_id!,
      response_id: 'resp_1',
    })
    assert.match(String(event.event_id), /^event_/)
    translation.fromBackend(delta(100, 'resp_1', 'item_2'))
    assert.deepEqual(translation.fromPlayout({ type: 'started', tag: tag('resp_1', 'item_2') }), [])
  })

  it('has stopped when the queue has drained and response.done was passed on', () => {
    const translation = speaking(greeted(), 100)
    translation.fromPlayout(STARTED)
    assert.deepEqual(short(translation.fromBackend(done())), ['client: response.done'])
    assert.deepEqual(short(translation.fromPlayout(DRAINED)), ['client: output_audio_buffer.stopped resp_1'])
    assert.deepEqual(translation.fromPlayout(DRAINED), [])
  })

  it('that drained before has stopped behind response.done', () => {
    const translation = speaking(greeted(), 100)
    translation.fromPlayout(STARTED)
    assert.deepEqual(translation.fromPlayout(DRAINED), [])
    assert.deepEqual(short(translation.fromBackend(done())), [
      'client: response.done',
      'client: output_audio_buffer.stopped resp_1',
    ])
  })

  it('that ran dry in the middle of a response has not stopped', () => {
    const translation = speaking(greeted(), 100)
    translation.fromPlayout(STARTED)
    translation.fromPlayout(DRAINED)
    translation.fromBackend(delta(100))
    assert.deepEqual(short(translation.fromBackend(done())), ['client: response.done'])
    assert.deepEqual(short(translation.fromPlayout(DRAINED)), ['client: output_audio_buffer.stopped resp_1'])
  })

  it('has stopped with one response before it starts with the next', () => {
    const translation = speaking(greeted(), 100)
    translation.fromPlayout(STARTED)
    translation.fromBackend(done())
    speaking(translation, 100, 'resp_2', 'item_2')
    assert.deepEqual(short(translation.fromPlayout({ type: 'started', tag: tag('resp_2', 'item_2') })), [
      'client: output_audio_buffer.stopped resp_1',
      'client: output_audio_buffer.started resp_2',
    ])
  })

  it('says nothing of a response without audio', () => {
    const translation = greeted()
    translation.fromBackend(created())
    assert.deepEqual(short(translation.fromBackend(done())), ['client: response.done'])
    assert.deepEqual(translation.fromPlayout(DRAINED), [])
  })

  it('is nobody else’s to tell of', () => {
    for (const what of ['started', 'stopped', 'cleared'])
      assert.deepEqual(greeted().fromBackend({ type: `output_audio_buffer.${what}` }), [])
  })
})

describe('every other event of a backend', () => {
  const types = [
    'conversation.item.added',
    'conversation.item.done',
    'conversation.item.truncated',
    'conversation.item.input_audio_transcription.completed',
    'error',
    'input_audio_buffer.committed',
    'input_audio_buffer.speech_stopped',
    'rate_limits.updated',
    'response.content_part.added',
    'response.function_call_arguments.done',
    'response.output_audio_transcript.delta',
    'response.output_item.done',
    'something.new',
  ]
  for (const type of types) {
    it(`passes as it is: ${type}`, () => {
      const event = { type, event_id: 'event_b', deep: { list: [1, null, 'ü'] } }
      assert.deepEqual(greeted().fromBackend(event), [{ do: 'tell', event }])
    })
  }

  it('passes without the audio of an item, which no data channel holds', () => {
    const content = [{ type: 'input_audio', audio: 'AAAA', transcript: 'Hello.' }]
    const event = only(
      greeted().fromBackend({ type: 'conversation.item.retrieved', item: { id: 'item_1', content } }),
    )
    assert.deepEqual(event.item, {
      id: 'item_1',
      content: [{ type: 'input_audio', audio: null, transcript: 'Hello.' }],
    })
  })
})
