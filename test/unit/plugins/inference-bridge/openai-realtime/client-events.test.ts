/** A client's events: the rows of the table that begin with them. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../../core/index.ts'
import { created, delta, done, greeted, only, played, SPEECH, short, speaking, tag } from './rig.ts'

const PCM = { type: 'audio/pcm', rate: 24_000 }

describe('session.update', () => {
  const update = (session: JsonObject): JsonObject => ({ type: 'session.update', event_id: 'mine', session })

  it('goes on with our formats, whatever it says of them', () => {
    const audio = {
      input: { format: { type: 'audio/pcmu' }, turn_detection: null },
      output: { format: { type: 'audio/pcma' }, voice: 'marin' },
    }
    const event = only(greeted().fromClient(update({ type: 'realtime', audio })))
    assert.deepEqual(event, {
      type: 'session.update',
      event_id: 'mine',
      session: {
        type: 'realtime',
        audio: { input: { format: PCM, turn_detection: null }, output: { format: PCM, voice: 'marin' } },
      },
    })
  })

  it('goes on without a model, which was settled before', () => {
    const event = only(greeted().fromClient(update({ model: 'another', instructions: 'Be kind.' })))
    assert.deepEqual(event.session, { type: 'realtime', instructions: 'Be kind.' })
  })

  it('goes on without tracing where the backend knows none, so that it is acknowledged all the same', () => {
    const session = { type: 'realtime', tracing: 'auto' }
    assert.deepEqual(only(greeted().fromClient(update(session))).session, session)
    assert.deepEqual(only(greeted({ tracing: false }).fromClient(update(session))).session, {
      type: 'realtime',
    })
  })

  it('goes on as it is to a backend whose sessions have a shape of their own', () => {
    const session = { voice: 'Eve', audio: { input: { format: 'theirs' } } }
    assert.deepEqual(only(greeted({ formats: false }).fromClient(update(session))).session, session)
  })

  it('is acknowledged by the backend alone', () => {
    assert.deepEqual(short(greeted().fromClient(update({}))), ['backend: session.update'])
  })
})

describe('the input audio buffer', () => {
  it('takes no audio from the data channel', () => {
    const event = only(
      greeted().fromClient({ type: 'input_audio_buffer.append', event_id: 'mine', audio: 'AAAA' }),
    )
    assert.equal(event.type, 'error')
    assert.partialDeepStrictEqual(event.error, {
      type: 'invalid_request_error',
      code: 'invalid_event_for_transport',
      event_id: 'mine',
    })
  })

  for (const what of ['commit', 'clear']) {
    it(`waits with a ${what} for what the caller has said`, () => {
      const event = { type: `input_audio_buffer.${what}`, event_id: 'mine' }
      assert.deepEqual(greeted().fromClient(event), [{ do: 'ask-when-heard', event }])
    })
  }
})

describe('responses', () => {
  it('are asked for without a format of their own', () => {
    const response = {
      conversation: 'none',
      audio: { output: { format: { type: 'audio/pcmu' }, voice: 'ash' } },
    }
    assert.deepEqual(only(greeted().fromClient({ type: 'response.create', response })).response, {
      conversation: 'none',
      audio: { output: { voice: 'ash' } },
    })
  })

  it('that are cancelled are heard as far as they came', () => {
    const translation = speaking(greeted(), 1000)
    assert.deepEqual(short(translation.fromClient({ type: 'response.cancel' })), ['backend: response.cancel'])
    translation.fromPlayout({ type: 'started', tag: tag() })
    translation.fromBackend(done('resp_1', 'cancelled'))
    assert.deepEqual(short(translation.fromPlayout({ type: 'drained' })), [
      'client: output_audio_buffer.stopped resp_1',
    ])
  })

  it('that cannot be cancelled are heard no further than that', () => {
    const translation = speaking(greeted({ cancel: false }), 1000)
    assert.deepEqual(translation.fromClient({ type: 'response.cancel' }), [])
    assert.deepEqual(translation.fromBackend(delta(100)), [])
    translation.fromBackend(done())
    translation.fromBackend(created('resp_2'))
    assert.equal(translation.fromBackend(delta(100, 'resp_2', 'item_2')).length, 1)
  })
})

describe('conversation.item.truncate', () => {
  const truncate = (ms: number, item = 'item_1'): JsonObject => ({
    type: 'conversation.item.truncate',
    item_id: item,
    content_index: 0,
    audio_end_ms: ms,
  })

  it('goes on, no later than what came', () => {
    const translation = speaking(greeted(), 1000)
    assert.deepEqual(only(translation.fromClient(truncate(1500))), truncate(1000))
  })

  it('goes on as it is for an item of which no audio came', () => {
    assert.deepEqual(only(greeted().fromClient(truncate(700, 'item_8'))), truncate(700, 'item_8'))
  })

  it('goes on only where it cuts more than was cut', () => {
    const translation = speaking(greeted(), 1000)
    translation.fromBackend(SPEECH)
    translation.flushed(played([tag(), 340]))
    assert.deepEqual(translation.fromClient(truncate(340)), [])
    assert.deepEqual(translation.fromClient(truncate(900)), [])
    assert.deepEqual(only(translation.fromClient(truncate(200))), truncate(200))
    assert.deepEqual(translation.fromClient(truncate(200)), [])
  })

  it('is refused where the backend knows no such thing', () => {
    const event = only(greeted({ truncate: false }).fromClient(truncate(100)))
    assert.partialDeepStrictEqual(event.error, { code: 'unsupported_event' })
  })
})

describe('conversation.item.retrieve', () => {
  const retrieve = { type: 'conversation.item.retrieve', event_id: 'mine', item_id: 'item_1' }
  const said = (transcript: string | null): JsonObject => ({
    id: 'item_1',
    role: 'user',
    content: [{ type: 'input_audio', transcript }],
  })

  it('goes to a backend that answers it', () => {
    assert.deepEqual(only(greeted().fromClient(retrieve)), retrieve)
  })

  it('is otherwise answered from what was seen, with what was transcribed since', () => {
    const translation = greeted({ retrieve: false })
    translation.fromBackend({ type: 'conversation.item.added', item: said(null) })
    const type = 'conversation.item.input_audio_transcription.completed'
    translation.fromBackend({ type, item_id: 'item_1', content_index: 0, transcript: 'Hello.' })
    const event = only(translation.fromClient(retrieve))
    assert.equal(event.type, 'conversation.item.retrieved')
    assert.deepEqual(event.item, said('Hello.'))
  })

  it('is otherwise answered without the text of what was truncated', () => {
    const translation = greeted({ retrieve: false })
    translation.fromBackend({ type: 'response.output_item.done', item: said('All of it.') })
    translation.fromBackend({ type: 'conversation.item.truncated', item_id: 'item_1', content_index: 0 })
    assert.deepEqual(only(translation.fromClient(retrieve)).item, said(''))
  })

  it('is refused for an item that is not, or no longer, there', () => {
    const translation = greeted({ retrieve: false })
    const refused = { code: 'item_retrieve_invalid_item_id', param: 'item_id', event_id: 'mine' }
    assert.partialDeepStrictEqual(only(translation.fromClient(retrieve)).error, refused)
    translation.fromBackend({ type: 'conversation.item.added', item: said('Hello.') })
    translation.fromBackend({ type: 'conversation.item.deleted', item_id: 'item_1' })
    assert.partialDeepStrictEqual(only(translation.fromClient(retrieve)).error, refused)
  })
})

describe('everything else', () => {
  it('goes on as it is', () => {
    for (const type of ['conversation.item.create', 'conversation.item.delete', 'something.new']) {
      const event = { type, event_id: 'mine', item: { id: 'item_1' } }
      assert.deepEqual(greeted().fromClient(event), [{ do: 'ask', event }])
    }
  })

  it('does not go on if it is a key that was pressed: the client is told as on a telephone', () => {
    const event = only(greeted().fromClient({ type: 'telephone_event', digit: '5', duration_ms: 100 }))
    assert.deepEqual(event, {
      type: 'input_audio_buffer.dtmf_event_received',
      event_id: event.event_id!,
      event: '5',
      received_at: 1_700_000_000,
    })
  })
})
