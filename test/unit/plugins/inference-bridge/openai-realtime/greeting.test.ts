/** How a conversation begins: `session.created` comes first, with the session as it has been made. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EdgeError, type JsonObject } from '../../../../../core/index.ts'
import { MAX_HELD } from '../../../../../plugins/inference-bridge/openai-realtime/pure/greeting.ts'
import { created, delta, only, short, translate } from './rig.ts'

const PCM = { type: 'audio/pcm', rate: 24_000 }
const CREATED: JsonObject = { type: 'session.created', event_id: 'event_b', session: { id: 'sess_1' } }
const UPDATED: JsonObject = { type: 'session.updated', session: { id: 'sess_1', voice: 'marin' } }

describe('a conversation', () => {
  it('begins with the config of operator and client, and our formats', () => {
    const session = { instructions: 'Be kind.', model: 'no', audio: { output: { voice: 'marin' } } }
    const translation = translate({}, session)
    assert.equal(translation.ready, false)
    const update = only(translation.fromBackend(CREATED))
    assert.equal(translation.ready, true)
    assert.deepEqual(update, {
      type: 'session.update',
      event_id: 'event_1',
      session: {
        type: 'realtime',
        instructions: 'Be kind.',
        audio: { input: { format: PCM }, output: { voice: 'marin', format: PCM } },
      },
    })
  })

  it('tells the client session.created once that is acknowledged, and not the acknowledgement', () => {
    const translation = translate()
    translation.fromBackend(CREATED)
    assert.deepEqual(only(translation.fromBackend(UPDATED)), { ...CREATED, session: UPDATED.session! })
    assert.deepEqual(short(translation.fromBackend(UPDATED)), ['client: session.updated'])
  })

  it('holds back what a backend says before', () => {
    const translation = translate()
    assert.deepEqual(translation.fromBackend(created()), [])
    translation.fromBackend(CREATED)
    assert.deepEqual(translation.fromBackend(delta(40)), [])
    assert.deepEqual(short(translation.fromBackend(UPDATED)), [
      'client: session.created',
      'client: response.created',
      'play 40 ms of resp_1/item_1/0',
    ])
  })

  it('tells the client that its config was refused, behind session.created', () => {
    const translation = translate()
    translation.fromBackend(CREATED)
    const error = { type: 'error', error: { code: 'invalid_value', event_id: 'event_1' } }
    assert.deepEqual(short(translation.fromBackend(error)), ['client: session.created', 'client: error'])
  })

  it('goes on when a backend does not acknowledge in time', () => {
    const translation = translate()
    translation.fromBackend(CREATED)
    translation.fromBackend(created())
    assert.deepEqual(short(translation.release()), ['client: session.created', 'client: response.created'])
    assert.deepEqual(translation.release(), [])
  })

  it('goes on when a backend has much to say instead', () => {
    const translation = translate()
    translation.fromBackend(CREATED)
    const told = Array.from({ length: MAX_HELD + 1 }, () => translation.fromBackend({ type: 'note' })).flat()
    assert.equal(told.length, MAX_HELD + 2)
  })

  it('is none when a backend never says session.created', () => {
    const translation = translate()
    const talk = (): void => {
      for (let n = 0; n <= MAX_HELD; n++) translation.fromBackend({ type: 'note' })
    }
    assert.throws(talk, (error) => error instanceof EdgeError && error.code === 'bridge_failed')
  })

  it('passes at once that a backend refuses', () => {
    assert.deepEqual(short(translate().fromBackend({ type: 'error', error: {} })), ['client: error'])
  })

  it('begins without a word from us where we have none to say', () => {
    assert.deepEqual(short(translate({ formats: false }).fromBackend(CREATED)), ['client: session.created'])
    const own = translate({ formats: false }, { voice: 'Eve' })
    assert.deepEqual(only(own.fromBackend(CREATED)).session, { voice: 'Eve' })
  })
})
