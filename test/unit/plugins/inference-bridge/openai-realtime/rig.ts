/** A translation, events to feed it with, and what it did, in short. */

import type { JsonObject, Played } from '../../../../../core/index.ts'
import type { Action } from '../../../../../plugins/inference-bridge/openai-realtime/pure/actions.ts'
import {
  BACKENDS,
  type Capabilities,
} from '../../../../../plugins/inference-bridge/openai-realtime/pure/capabilities.ts'
import { Translation } from '../../../../../plugins/inference-bridge/openai-realtime/pure/translation.ts'

const RATE = 24_000

/** Makes a translation; its event ids are `event_1` and so on, and it is 1,700,000,000 s. */
export function translate(can: Partial<Capabilities> = {}, session: JsonObject = {}): Translation {
  let ids = 0
  const world = { eventId: () => `event_${++ids}`, unixSeconds: () => 1_700_000_000 }
  return new Translation({ can: { ...BACKENDS.openai, ...can }, rate: RATE, session, world })
}

/** One whose backend has said `session.created` and acknowledged: the config's id is `event_1`. */
export function greeted(can: Partial<Capabilities> = {}, turns: JsonObject | null = {}): Translation {
  const translation = translate(can)
  translation.fromBackend({ type: 'session.created', session: {} })
  const turnDetection = turns && { type: 'server_vad', ...turns }
  const audio = { input: { turn_detection: turnDetection } }
  translation.fromBackend({ type: 'session.updated', session: { audio } })
  return translation
}

/** One in which a response has begun to sound: `ms` came of item_1, as one delta. */
export function speaking(translation: Translation, ms: number, id = 'resp_1', item = 'item_1'): Translation {
  translation.fromBackend(created(id))
  translation.fromBackend(delta(ms, id, item))
  return translation
}

/** `response.created`. */
export function created(id = 'resp_1', conversation: string | null = 'conv_1'): JsonObject {
  return { type: 'response.created', response: { id, conversation_id: conversation } }
}

/** So many milliseconds of audio. */
export function delta(ms: number, id = 'resp_1', item = 'item_1', content = 0): JsonObject {
  const bytes = Buffer.alloc((ms * RATE) / 500, 7)
  return { ...part('delta', id, item, content), delta: bytes.toString('base64') }
}

/** `response.output_audio.done`, or another of its events. */
export function part(what: string, id = 'resp_1', item = 'item_1', content = 0): JsonObject {
  const place = { response_id: id, item_id: item, output_index: 0, content_index: content }
  return { type: `response.output_audio.${what}`, ...place }
}

/** `response.done`. */
export function done(id = 'resp_1', status = 'completed'): JsonObject {
  return { type: 'response.done', response: { id, status } }
}

/** The backend hears speech. */
export const SPEECH: JsonObject = { type: 'input_audio_buffer.speech_started', item_id: 'item_9' }

/** The tag of a part. */
export function tag(id = 'resp_1', item = 'item_1', content = 0): string {
  return `${id}/${item}/${content}`
}

/** How much of the parts was played. */
export function played(...parts: [tag: string, ms: number][]): Played[] {
  return parts.map(([name, playedMs]) => ({ tag: name, playedMs }))
}

/** Actions as texts: who gets what. */
export function short(actions: readonly Action[]): string[] {
  return actions.map((action) => {
    switch (action.do) {
      case 'tell':
        return `client: ${name(action.event)}`
      case 'ask':
        return `backend: ${name(action.event)}`
      case 'ask-when-heard':
        return `backend, when heard: ${name(action.event)}`
      case 'play':
        return `play ${(action.data.length * 500) / RATE} ms of ${action.tag}`
      default:
        return `flush by ${action.by}`
    }
  })
}

function name(event: JsonObject): string {
  const { type, response_id, item_id, audio_end_ms, content_index } = event
  const about = [response_id, item_id, audio_end_ms === undefined ? undefined : content_index, audio_end_ms]
  return [type, ...about.filter((one) => one !== undefined)].join(' ')
}

/** The only event in actions. */
export function only(actions: readonly Action[]): JsonObject {
  const [action] = actions
  if (actions.length !== 1 || !action || !('event' in action))
    throw new Error(`not one event: ${short(actions)}`)
  return action.event
}
