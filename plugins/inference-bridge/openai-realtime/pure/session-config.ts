/** A session's config on its way to the backend, and what the backend's own says. Pure. */

import { isJsonObject, type JsonObject } from '../../../../core/index.ts'
import type { Capabilities } from './capabilities.ts'
import { objectAt, without } from './json.ts'

/** What only the backend may say of a session. The model is settled when the connection is made. */
const NOT_OURS = ['model', 'id', 'object', 'expires_at', 'client_secret']

/** A client's or an operator's session, as the backend may have it: its formats are the edge's business. */
export function toBackendSession(session: JsonObject, can: Capabilities, rate: number): JsonObject {
  const kept = without(session, ...NOT_OURS, ...(can.tracing ? [] : ['tracing']))
  if (!can.formats) return kept
  const typed = { type: 'realtime', ...kept }
  if (!isJsonObject(kept.audio)) return typed
  return { ...typed, audio: withFormats(kept.audio, rate) }
}

/** The first session of a conversation, which names the formats whatever else it says. */
export function firstSession(session: JsonObject, can: Capabilities, rate: number): JsonObject {
  if (!can.formats) return toBackendSession(session, can, rate)
  const audio = objectAt(session, 'audio')
  const output = session.type === 'transcription' ? {} : { output: objectAt(audio, 'output') }
  const named = { ...session, audio: { ...audio, input: objectAt(audio, 'input'), ...output } }
  return toBackendSession(named, can, rate)
}

/** What a client asks of one response: its format is the edge's business as well. */
export function toBackendResponse(response: JsonObject): JsonObject {
  const { audio } = response
  if (!isJsonObject(audio) || !isJsonObject(audio.output)) return response
  return { ...response, audio: { ...audio, output: without(audio.output, 'format') } }
}

/** Whether speech interrupts, as a session says; undefined where it says nothing of turns. */
export function interruptsIn(session: JsonObject): boolean | undefined {
  const { turn_detection: turns } = objectAt(objectAt(session, 'audio'), 'input')
  if (turns === undefined) return undefined
  return isJsonObject(turns) && turns.interrupt_response !== false
}

function withFormats(audio: JsonObject, rate: number): JsonObject {
  const forced = { ...audio }
  for (const way of ['input', 'output']) {
    const part = audio[way]
    if (isJsonObject(part)) forced[way] = { ...part, format: { type: 'audio/pcm', rate } }
  }
  return forced
}
