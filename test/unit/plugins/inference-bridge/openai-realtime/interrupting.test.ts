/** Barge-in: what an interruption drops, cancels and truncates, and what of it each side is told. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../../core/index.ts'
import type { Translation } from '../../../../../plugins/inference-bridge/openai-realtime/pure/translation.ts'
import { created, delta, done, greeted, only, part, played, SPEECH, short, speaking, tag } from './rig.ts'

const CLEAR = { type: 'output_audio_buffer.clear' }
const TRUNCATE = 'backend: conversation.item.truncate item_1 0'
const CANCEL = 'backend: response.cancel resp_1'
const CLEARED = 'client: output_audio_buffer.cleared resp_1'

/** The response has begun to sound. */
function sounding(ms = 1000, translation = greeted()): Translation {
  speaking(translation, ms).fromPlayout({ type: 'started', tag: tag() })
  return translation
}

describe('speech over an answer', () => {
  it('is passed on, and drops what is queued', () => {
    assert.deepEqual(short(sounding().fromBackend(SPEECH)), [
      'client: input_audio_buffer.speech_started item_9',
      'flush by speech',
    ])
  })

  it('truncates at the millisecond that was sent, rounded down, and tells the client (voice 30)', () => {
    const translation = sounding()
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 339.9]))), [`${TRUNCATE} 339`, CLEARED])
  })

  it('truncates no later than what came', () => {
    const translation = sounding(100)
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 120]))), [`${TRUNCATE} 100`, CLEARED])
  })

  it('before the first frame cancels, and truncates nothing (voice 29)', () => {
    const translation = speaking(greeted(), 1000)
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 0]))), [CANCEL, CLEARED])
  })

  it('before any audio cancels, and there was nothing to clear', () => {
    const translation = greeted()
    translation.fromBackend(created())
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed([])), [CANCEL])
  })

  it('is the end of the answer, though the backend says more of one that it said was done', () => {
    for (const isDone of [true, false]) {
      const translation = sounding()
      if (isDone) translation.fromBackend(done())
      translation.fromBackend(SPEECH)
      translation.flushed(played([tag(), 300]))
      if (!isDone) translation.fromBackend(done('resp_1', 'cancelled'))
      assert.deepEqual(short(translation.fromBackend(delta(100))), [], `done first: ${isDone}`)
      translation.fromBackend(created())
      assert.equal(
        translation.fromBackend(delta(100)).length,
        1,
        'an id that is used again is another answer',
      )
    }
  })

  it('truncates nothing when all was sent and the backend was done with it', () => {
    const translation = sounding(100)
    translation.fromBackend(part('done'))
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 100]))), [CLEARED])
  })

  it('truncates what was all sent while the backend was not done with it', () => {
    const translation = sounding(100)
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 100]))), [`${TRUNCATE} 100`, CLEARED])
  })

  it('truncates of several items those that were begun and not finished', () => {
    const translation = sounding(100)
    translation.fromBackend(part('done'))
    translation.fromBackend(delta(100, 'resp_1', 'item_2'))
    translation.fromBackend(delta(100, 'resp_1', 'item_3'))
    translation.fromBackend(SPEECH)
    const heard = played([tag(), 100], [tag('resp_1', 'item_2'), 60], [tag('resp_1', 'item_3'), 0])
    assert.deepEqual(short(translation.flushed(heard)), [
      'backend: conversation.item.truncate item_2 0 60',
      CLEARED,
    ])
  })

  it('reaches an answer that the backend was long done with', () => {
    const translation = sounding(5000)
    translation.fromBackend(done())
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 1240]))), [`${TRUNCATE} 1240`, CLEARED])
  })

  it('drops what still comes of that response, and nothing of the next', () => {
    const translation = sounding()
    translation.fromBackend(SPEECH)
    translation.flushed(played([tag(), 20]))
    assert.deepEqual(translation.fromBackend(delta(100)), [])
    translation.fromBackend(done('resp_1', 'cancelled'))
    translation.fromBackend(created('resp_2'))
    assert.deepEqual(short(translation.fromBackend(delta(100, 'resp_2', 'item_2'))), [
      'play 100 ms of resp_2/item_2/0',
    ])
  })

  it('leaves a response out of band out of what the backend is told', () => {
    const translation = greeted()
    translation.fromBackend(created('resp_1', null))
    translation.fromBackend(delta(100))
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 20]))), [CLEARED])
  })

  it('is passed on alone when nobody answers', () => {
    const alone = ['client: input_audio_buffer.speech_started item_9']
    assert.deepEqual(short(greeted().fromBackend(SPEECH)), alone)
    const over = sounding(100)
    over.fromBackend(done())
    over.fromPlayout({ type: 'drained' })
    assert.deepEqual(short(over.fromBackend(SPEECH)), alone)
  })

  const quiet: [string, () => Translation][] = [
    ['by the session', () => sounding(1000, greeted({}, { interrupt_response: false }))],
    ['without turn detection', () => sounding(1000, greeted({}, null))],
    [
      'by the client, whose backend does not say',
      () => {
        const translation = sounding()
        const input = { turn_detection: { type: 'server_vad', interrupt_response: false } }
        translation.fromClient({ type: 'session.update', session: { audio: { input } } })
        translation.fromBackend({ type: 'session.updated', session: {} })
        return translation
      },
    ],
  ]
  for (const [how, make] of quiet) {
    it(`is passed on alone when it is not to interrupt: ${how}`, () => {
      assert.deepEqual(short(make().fromBackend(SPEECH)), [
        'client: input_audio_buffer.speech_started item_9',
      ])
    })
  }

  it('asks nothing that the backend does not know', () => {
    const translation = sounding(1000, greeted({ truncate: false, cancel: false }))
    translation.fromBackend(SPEECH)
    assert.deepEqual(short(translation.flushed(played([tag(), 340]))), [CLEARED])
  })
})

describe('a client that clears the output', () => {
  it('drops it, cancels the response under way, and truncates', () => {
    const translation = sounding()
    assert.deepEqual(short(translation.fromClient(CLEAR)), ['flush by client'])
    assert.deepEqual(short(translation.flushed(played([tag(), 340]))), [CANCEL, `${TRUNCATE} 340`, CLEARED])
  })

  it('cancels nothing that is over', () => {
    const translation = sounding()
    translation.fromBackend(done())
    translation.fromClient(CLEAR)
    assert.deepEqual(short(translation.flushed(played([tag(), 340]))), [`${TRUNCATE} 340`, CLEARED])
  })

  it('is told even before there was any audio', () => {
    const translation = greeted()
    translation.fromBackend(created())
    translation.fromClient(CLEAR)
    assert.deepEqual(short(translation.flushed([])), [CANCEL, CLEARED])
  })

  it('clears nothing twice, and nothing where there is nothing', () => {
    const translation = sounding()
    translation.fromClient(CLEAR)
    translation.flushed(played([tag(), 340]))
    assert.deepEqual(translation.fromClient(CLEAR), [])
    assert.deepEqual(greeted().fromClient(CLEAR), [])
  })
})

describe('requests that the client did not make', () => {
  const error = (id: string | null): JsonObject => ({ type: 'error', error: { code: 'x', event_id: id } })

  function ownRequest(): [Translation, string] {
    const translation = speaking(greeted(), 1000)
    translation.fromBackend(SPEECH)
    const [cancel] = translation.flushed(played([tag(), 0]))
    assert.ok(cancel?.do === 'ask')
    return [translation, String(cancel.event.event_id)]
  }

  it('fail without a word to the client', () => {
    const [translation, id] = ownRequest()
    assert.deepEqual(translation.fromBackend(error(id)), [])
    assert.deepEqual(short(translation.fromBackend(error(id))), ['client: error'])
  })

  it('do not hide the errors of others', () => {
    const [translation] = ownRequest()
    for (const id of ['event_of_the_client', null])
      assert.deepEqual(only(translation.fromBackend(error(id))), error(id))
  })
})
