/** Events of a backend that speaks the beta of the Realtime interface, as GA events; and GA events for it. Pure. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../../core/index.ts'
import { toBetaSession, toGaSession } from './beta-session.ts'
import { objectAt, stringAt } from './json.ts'

const TO_GA: Readonly<Record<string, string>> = {
  'response.audio.delta': 'response.output_audio.delta',
  'response.audio.done': 'response.output_audio.done',
  'response.audio_transcript.delta': 'response.output_audio_transcript.delta',
  'response.audio_transcript.done': 'response.output_audio_transcript.done',
  'response.text.delta': 'response.output_text.delta',
  'response.text.done': 'response.output_text.done',
}

/** Content parts of what an assistant said. */
const TO_GA_PART: Readonly<Record<string, string>> = { audio: 'output_audio', text: 'output_text' }
const TO_BETA_PART: Readonly<Record<string, string>> = { output_audio: 'audio', output_text: 'text' }

/** So many items are waited for to be done, at most. */
const MAX_UNDONE = 64

/** One conversation's translation. */
export class Beta {
  /** Items of responses that were said to be there, and are not done. */
  readonly #undone = new Set<string>()

  /** A backend's event in GA's words: one, or several. */
  toGa(event: JsonObject, eventId: () => string): JsonObject[] {
    const type = stringAt(event, 'type')
    switch (type) {
      case 'session.created':
      case 'session.updated':
        return [{ ...event, session: toGaSession(objectAt(event, 'session'), true) }]
      case 'response.created':
      case 'response.done':
        return [{ ...event, response: toGaResponse(objectAt(event, 'response')) }]
      case 'conversation.item.created':
        return this.#created(event, eventId)
      case 'response.output_item.added':
      case 'conversation.item.retrieved':
        return [{ ...event, item: toGaItem(objectAt(event, 'item')) }]
      case 'response.output_item.done':
        return this.#outputItemDone(event, eventId)
      default:
        return [{ ...event, type: TO_GA[type] ?? type }]
    }
  }

  /** A client's event in the beta's words. */
  toBeta(event: JsonObject): JsonObject {
    switch (event.type) {
      case 'session.update':
        return { ...event, session: toBetaSession(objectAt(event, 'session')) }
      case 'response.create':
        return isJsonObject(event.response) ? { ...event, response: toBetaSession(event.response) } : event
      case 'conversation.item.create':
        return { ...event, item: renameParts(objectAt(event, 'item'), TO_BETA_PART) }
      default:
        return event
    }
  }

  /** GA says when an item is there and when it is done; in the beta one that is being made is done with its output. */
  #created(event: JsonObject, eventId: () => string): JsonObject[] {
    const item = toGaItem(objectAt(event, 'item'))
    const added = { ...event, type: 'conversation.item.added', item }
    if (item.status === 'in_progress') {
      if (this.#undone.size < MAX_UNDONE) this.#undone.add(stringAt(item, 'id'))
      return [added]
    }
    return [added, { ...added, type: 'conversation.item.done', event_id: eventId() }]
  }

  #outputItemDone(event: JsonObject, eventId: () => string): JsonObject[] {
    const item = toGaItem(objectAt(event, 'item'))
    const done = { ...event, item }
    if (!this.#undone.delete(stringAt(item, 'id'))) return [done]
    return [done, { type: 'conversation.item.done', event_id: eventId(), item }]
  }
}

function toGaResponse(response: JsonObject): JsonObject {
  const ga = toGaSession(response, false)
  if (!Array.isArray(ga.output)) return ga
  return { ...ga, output: ga.output.map((item: JsonValue) => (isJsonObject(item) ? toGaItem(item) : item)) }
}

function toGaItem(item: JsonObject): JsonObject {
  return renameParts(item, TO_GA_PART)
}

function renameParts(item: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  if (item.role !== 'assistant' || !Array.isArray(item.content)) return item
  const content = item.content.map((part) => {
    if (!isJsonObject(part) || typeof part.type !== 'string') return part
    return { ...part, type: names[part.type] ?? part.type }
  })
  return { ...item, content }
}
