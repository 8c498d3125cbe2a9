/**
 * A conversation as a list of turns, and the few things that happen to one. Pure: every function gives a new state and
 * leaves the old one as it is; turns that did not change are the same objects.
 *
 * A turn is `{ id, who: 'you' | 'edge', kind: 'speech' | 'text' | 'tool' | 'note', startMs, endMs, text, item, response,
 * soundMs, cut, latency, behindMs }`. `endMs` is undefined while it goes on, `soundMs` until its sound was heard.
 * `cut` is `{ playedMs, silentAfterMs }`, `latency` `{ totalMs, noticeMs, answerMs }`; what is not known is undefined.
 */

const KEEP = 200
const LONGEST_TEXT = 10_000

/** Nobody has said anything. `told`: the other side tells of turns by events, so levels make none. */
export const NOTHING = {
  turns: [],
  told: false,
  /** Somebody's speech by level: when it began, and whether it goes on. */
  you: { beganAt: undefined, speaks: false },
  edge: { beganAt: undefined, speaks: false },
  /** The response that is being made and has no sound yet. */
  thinking: undefined,
  /** The newest item that was named, and its response. */
  named: { item: undefined, response: undefined },
  /** Your speech that waits for an answer: `{ endMs, noticedMs }`. */
  spoke: undefined,
  nextId: 1,
}

/** Adds a turn; the oldest leaves when there are many. */
export function add(state, turn) {
  const made = { id: state.nextId, kind: 'speech', text: '', ...turn }
  return { ...state, turns: [...state.turns, made].slice(-KEEP), nextId: state.nextId + 1 }
}

/** Changes one turn. */
export function change(state, turn, changes) {
  const changed = { ...turn, ...changes }
  return { ...state, turns: state.turns.map((one) => (one.id === turn.id ? changed : one)) }
}

/** The newest turn that fits. */
export function newest(state, fits) {
  return state.turns.findLast(fits)
}

/** Somebody's speech that goes on. */
export function open(state, who) {
  return newest(state, (turn) => turn.who === who && turn.kind === 'speech' && turn.endMs === undefined)
}

/** Adds to what was said. */
export function append(state, turn, more) {
  if (typeof more !== 'string' || turn.text.length > LONGEST_TEXT) return state
  return change(state, turn, { text: (turn.text + more).slice(0, LONGEST_TEXT) })
}

/** Says what was said, whole. */
export function rewrite(state, turn, text) {
  if (typeof text !== 'string' || text.trim() === '') return state
  return change(state, turn, { text: text.trim().slice(0, LONGEST_TEXT) })
}

/** The answer's first sound is heard; with your speech before it, that makes the turn's latency. */
export function sound(state, turn, at) {
  const { spoke } = state
  if (spoke === undefined) return change(state, turn, { startMs: at, soundMs: at })
  const { endMs, noticedMs } = spoke
  const latency = {
    totalMs: Math.max(0, at - endMs),
    noticeMs: noticedMs === undefined ? undefined : Math.min(at, noticedMs) - endMs,
    answerMs: noticedMs === undefined ? undefined : Math.max(0, at - noticedMs),
  }
  return change({ ...state, spoke: undefined }, turn, { startMs: at, soundMs: at, latency })
}
