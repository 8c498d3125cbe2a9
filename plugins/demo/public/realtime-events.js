/**
 * OpenAI Realtime's events, as far as they say something of turns. Pure and total: whatever an event holds, a state
 * comes out. Events that say nothing of turns change nothing.
 */

import { add, append, change, newest, open, rewrite } from './turn-list.js'

/** Speech that is told of began, by level, at most so long before. */
const NOTICED_WITHIN_MS = 1500

const isAnswer = ({ who, kind }) => who === 'edge' && (kind === 'speech' || kind === 'text')

/** Type → what becomes of the state. Each one is `(state, event, input) → state`. */
const HANDLERS = {
  'session.created': told,
  'input_audio_buffer.speech_started': speechStarted,
  'input_audio_buffer.speech_stopped': speechStopped,
  'input_audio_buffer.committed': committed,
  'conversation.item.input_audio_transcription.delta': (state, event) =>
    yours(state, event, (turn) => append(state, turn, event.delta)),
  'conversation.item.input_audio_transcription.completed': (state, event) =>
    yours(state, event, (turn) => rewrite(state, turn, event.transcript)),
  'response.created': (state, event, input) => ({
    ...told(state, event, input),
    thinking: event.response?.id ?? 'unnamed',
  }),
  'response.output_audio_transcript.delta': (state, event, { at }) => answer(state, event, at, event.delta),
  'response.output_audio_transcript.done': (state, event) => finished(state, event, event.transcript),
  'response.output_text.delta': (state, event, { at }) => answer(state, event, at, event.delta),
  'response.output_text.done': (state, event) => finished(state, event, event.text),
  'response.output_item.added': itemAdded,
  'response.output_item.done': toolCalled,
  'response.done': responseDone,
  'output_audio_buffer.started': started,
  'output_audio_buffer.stopped': stopped,
  'output_audio_buffer.cleared': cleared,
  'conversation.item.truncated': truncated,
  error: (state, event, { at }) => note(state, event.error?.message ?? event.message, at),
}

/** What the edge sent. */
export function follow(state, input) {
  const { event } = input
  if (typeof event !== 'object' || event === null || !Object.hasOwn(HANDLERS, event.type)) return state
  return HANDLERS[event.type](state, event, input)
}

/** What the person sent: a message that was typed is a turn. */
export function followSent(state, { event, at }) {
  const item = event?.type === 'conversation.item.create' ? event.item : undefined
  if (item?.role !== 'user' || !Array.isArray(item.content)) return state
  const text = item.content.flatMap((part) => (typeof part?.text === 'string' ? part.text : [])).join('\n')
  return text === '' ? state : add(state, { who: 'you', kind: 'text', startMs: at, endMs: at, text })
}

function told(state) {
  return state.told ? state : { ...state, told: true }
}

function speechStarted(state, event, { at }) {
  const { beganAt } = state.you
  const soundMs = at - beganAt <= NOTICED_WITHIN_MS ? beganAt : undefined
  const known = open(state, 'you')
  const next = { ...state, told: true, spoke: undefined }
  if (known) return change(next, known, { item: event.item_id })
  return add(next, { who: 'you', startMs: soundMs ?? at, soundMs, item: event.item_id })
}

function speechStopped(state, event, { at, youLoudAt }) {
  const turn = open(state, 'you')
  if (!turn) return told(state)
  const endMs = youLoudAt > turn.startMs ? Math.min(at, youLoudAt) : at
  const next = { ...state, told: true, spoke: { endMs, noticedMs: at } }
  return change(next, turn, { endMs, item: turn.item ?? event.item_id })
}

/** Somebody who holds a button to speak is never told that speech began or stopped. */
function committed(state, event, input) {
  const { at, youLoudAt } = input
  const named = newest(state, ({ item }) => item !== undefined && item === event.item_id)
  if (named) return told(state)
  const last = newest(state, ({ who, kind }) => who === 'you' && kind === 'speech')
  if (last?.endMs === undefined && last) return speechStopped(state, event, input)
  if (last && last.item === undefined) return change(told(state), last, { item: event.item_id })
  const startMs = state.you.beganAt > (last?.endMs ?? -1) ? state.you.beganAt : at
  const endMs = youLoudAt > startMs ? Math.min(at, youLoudAt) : at
  const next = { ...state, told: true, spoke: { endMs, noticedMs: at } }
  return add(next, { who: 'you', startMs, soundMs: startMs, endMs, item: event.item_id })
}

function yours(state, { item_id }, then) {
  const turn = newest(state, ({ who, item }) => who === 'you' && item !== undefined && item === item_id)
  return turn ? then(turn) : state
}

/** The turn of an event's item or, before that is known, of its response. */
function answerOf(state, { item_id, response_id }) {
  const byItem = newest(state, (turn) => isAnswer(turn) && turn.item !== undefined && turn.item === item_id)
  if (byItem) return byItem
  const mine = (turn) => isAnswer(turn) && turn.response !== undefined && turn.response === response_id
  return newest(state, (turn) => mine(turn) && (item_id === undefined || turn.item === undefined))
}

function answer(state, event, at, more) {
  const known = answerOf(state, event)
  if (known) return append(state, known, more)
  const { item_id: item, response_id: response } = event
  const made = add(told(state), { who: 'edge', kind: 'text', startMs: at, endMs: at, item, response })
  return append(made, made.turns.at(-1), more)
}

function finished(state, event, text) {
  const turn = answerOf(state, event)
  return turn ? rewrite(state, turn, text) : state
}

/** Items are named before they are heard, so that a truncation finds its answer. */
function itemAdded(state, { response_id, item }) {
  if (item?.type !== 'message' || state.thinking !== response_id) return state
  return { ...state, named: { item: item.id, response: response_id } }
}

function toolCalled(state, { item }, { at }) {
  if (item?.type !== 'function_call') return state
  const text = `${item.name ?? 'a tool'}(${item.arguments ?? ''})`
  return add(state, { who: 'edge', kind: 'tool', startMs: at, endMs: at, text })
}

function responseDone(state, { response }, { at }) {
  const next = state.thinking === response?.id ? { ...state, thinking: undefined } : state
  const { status, status_details: details } = response ?? {}
  if (status !== 'failed' && status !== 'incomplete') return next
  return note(next, details?.error?.message ?? details?.reason ?? `The response is ${status}.`, at)
}

function started(state, event, { at }) {
  const { response_id: response } = event
  const item = state.named.response === response ? state.named.item : undefined
  const next = { ...state, told: true, thinking: undefined }
  const known = answerOf(state, { response_id: response })
  const begun = { kind: 'speech', startMs: at, endMs: undefined, toldMs: at }
  if (known && known.toldMs === undefined) return change(next, known, begun)
  return add(next, { who: 'edge', ...begun, response, item })
}

function stopped(state, _event, { at }) {
  const turn = open(state, 'edge')
  return turn ? change(state, turn, { endMs: at }) : state
}

function cleared(state, { response_id: response }, { at }) {
  const turn = open(state, 'edge')
  if (turn) return change(state, turn, { endMs: at, cut: turn.cut ?? {} })
  // Never heard: what was to be said may be known all the same.
  const written = response === undefined ? undefined : answerOf(state, { response_id: response })
  if (written && written.toldMs === undefined) return change(state, written, { cut: { playedMs: 0 } })
  if (state.thinking === undefined || state.thinking !== response) return state
  const next = { ...state, thinking: undefined }
  return add(next, { who: 'edge', startMs: at, endMs: at, response, cut: { playedMs: 0 } })
}

function truncated(state, { item_id, audio_end_ms: playedMs }, { at }) {
  const turn =
    newest(state, (one) => isAnswer(one) && one.item !== undefined && one.item === item_id) ??
    newest(state, (one) => isAnswer(one) && one.item === undefined && one.toldMs !== undefined)
  if (!turn || typeof playedMs !== 'number') return state
  return change(state, turn, { endMs: turn.endMs ?? at, cut: { ...turn.cut, playedMs } })
}

function note(state, text, at) {
  if (typeof text !== 'string' || text === '') return state
  return add(state, { who: 'edge', kind: 'note', startMs: at, endMs: at, text })
}
