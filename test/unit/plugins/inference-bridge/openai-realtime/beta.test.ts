/** A backend that speaks the beta: its clients do not notice. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../../../core/index.ts'
import type { Translation } from '../../../../../plugins/inference-bridge/openai-realtime/pure/translation.ts'
import { created, greeted, only, part, short, translate } from './rig.ts'

const PCM = { type: 'audio/pcm', rate: 24_000 }

function beta(): Translation {
  return greeted({ dialect: 'beta' })
}

describe('events of a beta backend', () => {
  const renamed = [
    ['response.audio.done', 'response.output_audio.done'],
    ['response.audio_transcript.delta', 'response.output_audio_transcript.delta'],
    ['response.audio_transcript.done', 'response.output_audio_transcript.done'],
    ['response.text.delta', 'response.output_text.delta'],
    ['response.text.done', 'response.output_text.done'],
  ] as const
  for (const [theirs, ours] of renamed) {
    it(`are renamed: ${theirs}`, () => {
      assert.deepEqual(only(beta().fromBackend({ type: theirs, delta: 'x' })), { type: ours, delta: 'x' })
    })
  }

  it('carry audio', () => {
    const translation = beta()
    translation.fromBackend(created())
    const event = { ...part('delta'), type: 'response.audio.delta', delta: 'AAAA' }
    assert.equal(short(translation.fromBackend(event))[0]?.slice(0, 5), 'play ')
  })

  it('say of an item that it was created: it is added, and done', () => {
    const item = { id: 'item_1', role: 'user', status: 'completed', content: [] }
    const event = { type: 'conversation.item.created', event_id: 'event_b', previous_item_id: null, item }
    assert.deepEqual(short(beta().fromBackend(event)), [
      'client: conversation.item.added',
      'client: conversation.item.done',
    ])
  })

  it('say of an item that is being made that it was created: it is done with its output', () => {
    const translation = beta()
    const item = { id: 'item_1', role: 'assistant', status: 'in_progress', content: [] }
    const event = { type: 'conversation.item.created', item }
    assert.deepEqual(short(translation.fromBackend(event)), ['client: conversation.item.added'])
    const full = { ...item, status: 'completed', content: [{ type: 'audio', transcript: 'Hi.' }] }
    const told = translation.fromBackend({ type: 'response.output_item.done', item: full })
    assert.deepEqual(short(told), ['client: response.output_item.done', 'client: conversation.item.done'])
    const done = told[1]
    assert.ok(done?.do === 'tell')
    assert.deepEqual(done.event.item, { ...full, content: [{ type: 'output_audio', transcript: 'Hi.' }] })
  })

  it('have flat sessions', () => {
    const session = {
      id: 'sess_1',
      modalities: ['audio', 'text'],
      voice: 'alloy',
      input_audio_format: 'pcm16',
      output_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'whisper-1' },
      turn_detection: { type: 'server_vad' },
      max_response_output_tokens: 'inf',
    }
    assert.deepEqual(only(beta().fromBackend({ type: 'session.updated', session })).session, {
      id: 'sess_1',
      type: 'realtime',
      output_modalities: ['audio'],
      max_output_tokens: 'inf',
      audio: {
        input: {
          format: PCM,
          transcription: { model: 'whisper-1' },
          turn_detection: { type: 'server_vad' },
        },
        output: { format: { type: 'audio/pcmu' }, voice: 'alloy' },
      },
    })
  })

  it('have flat responses', () => {
    const output = [{ role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }]
    const response = { id: 'resp_1', modalities: ['text'], output_audio_format: 'pcm16', output }
    const told = only(beta().fromBackend({ type: 'response.created', response }))
    assert.deepEqual(told.response, {
      id: 'resp_1',
      output_modalities: ['text'],
      audio: { output: { format: PCM } },
      output: [{ role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }],
    })
  })
})

describe('events for a beta backend', () => {
  const sent = (event: JsonObject): JsonObject => only(beta().fromClient(event))

  it('have flat sessions', () => {
    const session = {
      type: 'realtime',
      output_modalities: ['audio'],
      max_output_tokens: 100,
      instructions: 'Be kind.',
      audio: {
        input: { transcription: null, noise_reduction: { type: 'near_field' }, turn_detection: null },
        output: { voice: 'alloy', speed: 1.2 },
      },
    }
    assert.deepEqual(sent({ type: 'session.update', session }).session, {
      modalities: ['audio', 'text'],
      max_response_output_tokens: 100,
      instructions: 'Be kind.',
      input_audio_format: 'pcm16',
      input_audio_transcription: null,
      input_audio_noise_reduction: { type: 'near_field' },
      turn_detection: null,
      output_audio_format: 'pcm16',
      voice: 'alloy',
      speed: 1.2,
    })
  })

  it('begin with our formats', () => {
    const first = only(translate({ dialect: 'beta' }).fromBackend({ type: 'session.created', session: {} }))
    assert.deepEqual(first.session, { input_audio_format: 'pcm16', output_audio_format: 'pcm16' })
  })

  it('ask for responses in its words', () => {
    const response = { output_modalities: ['text'], instructions: 'Briefly.' }
    assert.deepEqual(sent({ type: 'response.create', response }).response, {
      modalities: ['text'],
      instructions: 'Briefly.',
    })
    assert.deepEqual(sent({ type: 'response.create' }), { type: 'response.create' })
  })

  it('name what an assistant said in its words', () => {
    const item = { role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
    assert.deepEqual(sent({ type: 'conversation.item.create', item }).item, {
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi.' }],
    })
  })
})
