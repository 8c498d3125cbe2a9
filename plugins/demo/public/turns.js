/**
 * Turns out of what the page hears and is told: a reducer. Where the other side tells of turns by OpenAI Realtime's
 * events, those make the turns and levels say when they were heard; where it tells nothing, levels alone make them. Pure.
 */

import { follow, followSent } from './realtime-events.js'
import { add, change, NOTHING, newest, open, sound } from './turn-list.js'

/** A sound may be heard so long before the event that tells of it. */
const EARLY_MS = 500
/** The sound of an answer goes on for a moment after its end was told: what the browser had buffered. */
const LATE_MS = 1500
/** An answer closer to your last sound than this overlaps you. */
const OVERLAP_MS = 120

export { NOTHING }

/**
 * Takes what happened, and gives the state after it. Inputs have `at`, milliseconds on one clock, and are
 * `{ type: 'received' | 'sent', event, youLoudAt }`, `{ type: 'begins' | 'ends', who, youLoudAt }` from Hearing (with
 * `at` dated back), and `{ type: 'over' }`. `youLoudAt` is when your level was last loud.
 */
export function step(state, input) {
  switch (input.type) {
    case 'received':
      return heardAlready(follow(state, input), input.at)
    case 'sent':
      return followSent(state, input)
    case 'begins':
      return begins({ ...state, [input.who]: { beganAt: input.at, speaks: true } }, input)
    case 'ends':
      return ends({ ...state, [input.who]: { ...state[input.who], speaks: false } }, input)
    case 'over':
      return over(state, input.at)
    default:
      return state
  }
}

/** Who has the floor: 'you', 'edge', 'both', 'thinking' (an answer is being made), or 'nobody'. */
export function floorOf(state) {
  const you = open(state, 'you') !== undefined
  const edge = open(state, 'edge') !== undefined
  if (you && edge && !state.told) return 'both'
  if (you) return 'you'
  if (edge) return 'edge'
  return state.thinking === undefined ? 'nobody' : 'thinking'
}

/** The answers' latencies: `{ count, totalMs, noticeMs, answerMs }`, medians; undefined without any. */
export function latencyOf({ turns }) {
  const measured = turns.flatMap(({ latency }) => latency ?? [])
  if (measured.length === 0) return undefined
  const of = (name) => median(measured.flatMap((latency) => latency[name] ?? []))
  return {
    count: measured.length,
    totalMs: of('totalMs'),
    noticeMs: of('noticeMs'),
    answerMs: of('answerMs'),
  }
}

/** The middle one, or the mean of the middle two; undefined of none. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle]
  return sorted.length === 0 ? undefined : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The event that tells of an answer may come after its first sound. */
function heardAlready(state, at) {
  const { beganAt, speaks } = state.edge
  const turn = open(state, 'edge')
  const early = turn?.toldMs === at && turn.soundMs === undefined && speaks && at - beganAt <= EARLY_MS
  return early ? sound(state, turn, beganAt) : state
}

function begins(state, { who, at, youLoudAt }) {
  if (state.told) {
    const turn = open(state, who)
    if (!turn || turn.soundMs !== undefined) return state
    if (who === 'edge') return sound(state, turn, at)
    // The event was quicker than what it tells of.
    return change(state, turn, { startMs: Math.min(at, turn.startMs), soundMs: at })
  }
  if (who === 'you') return add({ ...state, spoke: undefined }, { who, startMs: at, soundMs: at })
  const yours = newest(state, (turn) => turn.who === 'you' && turn.kind === 'speech')
  if (yours === undefined) return add(state, { who, startMs: at, soundMs: at })
  const quietMs = at - (youLoudAt ?? at)
  const overlaps = yours.endMs === undefined && quietMs < OVERLAP_MS
  const behindMs = overlaps ? at - yours.startMs : undefined
  const answered = newest(state, (turn) => turn.who === 'edge' && turn.startMs >= yours.startMs)
  const spoke = overlaps || answered ? undefined : { endMs: yours.endMs ?? youLoudAt, noticedMs: undefined }
  const made = add({ ...state, spoke }, { who, startMs: at, behindMs })
  return sound(made, made.turns.at(-1), at)
}

function ends(state, { who, at }) {
  const turn = open(state, who)
  if (!state.told) return turn ? change(state, turn, { endMs: at }) : state
  if (who === 'you' || turn) return state
  // Told to be over already; this is when it was heard to be.
  const last = newest(state, (one) => one.who === 'edge' && one.soundMs !== undefined)
  if (!last || at < last.soundMs || at > last.endMs + LATE_MS || last.settled) return state
  const over = change(state, last, { endMs: at, settled: true })
  return last.cut
    ? silenced(
        over,
        over.turns.find(({ id }) => id === last.id),
      )
    : over
}

/** How long the answer was heard after you had begun to speak over it. */
function silenced(state, turn) {
  const yours = newest(
    state,
    (one) => one.who === 'you' && one.kind === 'speech' && one.startMs >= turn.soundMs,
  )
  if (!yours || yours.startMs > turn.endMs) return state
  return change(state, turn, { cut: { ...turn.cut, silentAfterMs: turn.endMs - yours.startMs } })
}

function over(state, at) {
  const turns = state.turns.map((turn) => (turn.endMs === undefined ? { ...turn, endMs: at } : turn))
  return { ...state, turns, thinking: undefined, spoke: undefined }
}
