/** What the page says in each state, and how it says lengths and turns. Pure. */

/** State → headline, the button's label, and the lines below the headline. */
export const STATES = {
  idle: [
    'Say something.',
    'Call',
    'Your voice goes to this edge over WebRTC. Call, speak, and hear what comes back.',
  ],
  starting: [
    'One moment.',
    'Cancel',
    'Your browser may ask whether this page may use the microphone. It needs to.',
  ],
  live: [
    'Go ahead, talk.',
    'Hang up',
    'You are in a call with this edge. What it answers comes out of your speakers.',
  ],
}

/** Who has the floor → headline and the line below, while a call goes on. */
export const FLOORS = {
  nobody: [STATES.live[0], STATES.live[2]],
  you: ['You speak.', 'Pause when you have said what you want to say.'],
  thinking: ['It thinks.', 'You have finished, and an answer is being made.'],
  edge: ['It answers.', 'You need not wait for the end: speak over it.'],
  both: ['Both speak.', 'What you say comes back while you say it.'],
}

/** The two sides. */
export const NAMES = { you: 'You', edge: 'Edge' }

/** Milliseconds as a person reads them: `620 ms`, `1.4 s`, `2:05`. */
export function length(ms) {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  return clock(Math.round(ms / 1000) * 1000)
}

/** A point in time: `0:07`. */
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** What there is to say of how an answer came: each a short phrase. */
export function remarks({ latency, behindMs, cut }) {
  const came = latency ? `${length(latency.totalMs)} after you` : undefined
  const echoed = behindMs === undefined ? undefined : `${length(behindMs)} behind you`
  return { came: came ?? echoed, cut: cut && cutOff(cut) }
}

function cutOff({ playedMs, silentAfterMs }) {
  if (playedMs === 0) return 'cut off before its first sound'
  const where = playedMs === undefined ? 'cut off' : `cut off after ${Math.round(playedMs)} ms`
  return silentAfterMs === undefined ? where : `${where}, silent ${length(silentAfterMs)} after you began`
}

/** A turn as a sentence, for those who do not see it. */
export function sentence(turn) {
  const { who, kind, text, startMs, endMs } = turn
  if (kind === 'tool') return `Edge calls ${text}.`
  const { came, cut } = remarks(turn)
  const said = text || `spoke for ${length(endMs - startMs)}`
  return `${[NAMES[who], came, cut].filter(Boolean).join(', ')}: ${said}`
}
