/** A scripted backend's session object: what it is at first, and what an update makes of it. */

import type { JsonObject, JsonValue } from '../../core/index.ts'
import type { Refusal } from './realtime-backend-items.ts'

const PCM = { type: 'audio/pcm', rate: 24_000 }

/** The session of a new connection. */
export function newSession(id: string, model: string): JsonObject {
  return {
    type: 'realtime',
    object: 'realtime.session',
    id,
    model,
    output_modalities: ['audio'],
    instructions: 'You are a helpful voice.',
    tools: [],
    tool_choice: 'auto',
    max_output_tokens: 'inf',
    tracing: null,
    prompt: null,
    expires_at: 4_000_000_000,
    audio: {
      input: {
        format: PCM,
        transcription: null,
        noise_reduction: null,
        turn_detection: {
          type: 'server_vad',
          threshold: 0.5,
          prefix_padding_ms: 300,
          silence_duration_ms: 500,
          idle_timeout_ms: null,
          create_response: true,
          interrupt_response: true,
        },
      },
      output: { format: PCM, voice: 'marin', speed: 1 },
    },
    include: null,
  }
}

/** The session after an update, or why it is refused. */
export function updated(session: JsonObject, update: JsonValue | undefined): JsonObject | Refusal {
  if (!isObject(update)) return missing('session')
  if (update.type !== 'realtime') return missing('session.type')
  if (update.model !== undefined && update.model !== session.model)
    return { code: 'invalid_value', message: 'The model cannot be changed.', param: 'session.model' }
  const after = joined(session, update)
  for (const way of ['input', 'output']) {
    const { format } = at(at(after, 'audio'), way)
    if (JSON.stringify(format) !== JSON.stringify(PCM))
      return {
        code: 'invalid_value',
        message: 'Not a format that is spoken here.',
        param: `session.audio.${way}`,
      }
  }
  return after
}

/** The object under a key, or an empty one. */
export function at(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isObject(value) ? value : {}
}

/** Whether a value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function missing(param: string): Refusal {
  return { code: 'missing_required_parameter', message: `Missing required parameter: '${param}'.`, param }
}

function joined(base: JsonObject, over: JsonObject): JsonObject {
  const result = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const below = base[key]
    // A kind of turn detection brings its own defaults.
    const fresh = key === 'turn_detection' && isObject(value) && isObject(below) && value.type !== below.type
    const defaults: JsonObject = { create_response: true, interrupt_response: true }
    if (isObject(value) && isObject(below)) result[key] = joined(fresh ? defaults : below, value)
    else result[key] = isObject(value) && key === 'turn_detection' ? joined(defaults, value) : value
  }
  return result
}
