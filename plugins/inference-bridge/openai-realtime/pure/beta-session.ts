/** A session's and a response's fields by their GA names and by those of the beta, both ways. Pure. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../../core/index.ts'
import { objectAt, without } from './json.ts'

const TO_BETA_FORMAT: Readonly<Record<string, string>> = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
}
const TO_GA_FORMAT: Readonly<Record<string, JsonObject>> = {
  pcm16: { type: 'audio/pcm', rate: 24_000 },
  g711_ulaw: { type: 'audio/pcmu' },
  g711_alaw: { type: 'audio/pcma' },
}

/** `audio.input.…` in GA, and the flat field of the beta. */
const INPUT: readonly (readonly [string, string])[] = [
  ['format', 'input_audio_format'],
  ['transcription', 'input_audio_transcription'],
  ['noise_reduction', 'input_audio_noise_reduction'],
  ['turn_detection', 'turn_detection'],
]
/** `audio.output.…`, likewise. */
const OUTPUT: readonly (readonly [string, string])[] = [
  ['format', 'output_audio_format'],
  ['voice', 'voice'],
  ['speed', 'speed'],
]

/** What a session, or the options of a response, is called in the beta. */
export function toBetaSession(session: JsonObject): JsonObject {
  const flat = without(session, 'type', 'audio', 'output_modalities', 'max_output_tokens')
  if (session.output_modalities !== undefined) flat.modalities = toBetaModalities(session.output_modalities)
  if (session.max_output_tokens !== undefined) flat.max_response_output_tokens = session.max_output_tokens
  const audio = objectAt(session, 'audio')
  flatten(objectAt(audio, 'input'), INPUT, flat)
  flatten(objectAt(audio, 'output'), OUTPUT, flat)
  return flat
}

/** What the beta's session, or response, is called in GA. A session has a `type`; see `typed`. */
export function toGaSession(flat: JsonObject, typed: boolean): JsonObject {
  const names = [...INPUT, ...OUTPUT].map(([, name]) => name)
  const session = without(flat, 'modalities', 'max_response_output_tokens', ...names)
  if (typed) session.type = 'realtime'
  if (flat.modalities !== undefined) session.output_modalities = toGaModalities(flat.modalities)
  if (flat.max_response_output_tokens !== undefined)
    session.max_output_tokens = flat.max_response_output_tokens
  const input = unfold(flat, INPUT)
  const output = unfold(flat, OUTPUT)
  if (!input && !output) return session
  return { ...session, audio: { ...(input && { input }), ...(output && { output }) } }
}

function flatten(part: JsonObject, names: typeof INPUT, flat: JsonObject): void {
  for (const [ga, beta] of names) {
    const value = part[ga]
    if (value !== undefined) flat[beta] = ga === 'format' ? toBetaFormat(value) : value
  }
}

function unfold(flat: JsonObject, names: typeof INPUT): JsonObject | undefined {
  const part: JsonObject = {}
  for (const [ga, beta] of names) {
    const value = flat[beta]
    if (value !== undefined) part[ga] = ga === 'format' ? toGaFormat(value) : value
  }
  return Object.keys(part).length > 0 ? part : undefined
}

function toBetaFormat(format: JsonValue): JsonValue {
  return isJsonObject(format) ? (TO_BETA_FORMAT[String(format.type)] ?? format) : format
}

function toGaFormat(format: JsonValue): JsonValue {
  return typeof format === 'string' ? (TO_GA_FORMAT[format] ?? format) : format
}

/** GA says `audio` where the beta says that text comes with it. */
function toBetaModalities(modalities: JsonValue): JsonValue {
  return Array.isArray(modalities) && modalities.includes('audio') ? ['audio', 'text'] : modalities
}

function toGaModalities(modalities: JsonValue): JsonValue {
  return Array.isArray(modalities) && modalities.includes('audio') ? ['audio'] : modalities
}
