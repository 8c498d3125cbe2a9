/**
 * Hears a tune again in a recording: which notes, in which order, how long, and where nothing sounded. Pure.
 *
 * A frame of 30 ms each 5 ms is given to the tone that holds most of its energy (Goertzel), or to silence. Runs of
 * frames are notes. What is compared is order, length and rests; loudness and timbre may change on the way.
 */

import { RATE, type Tone } from './tune.ts'

/** A stretch of a recording in which one tone sounded, or none (`tone` undefined). */
export interface Heard {
  /** The index in the tune. */
  readonly tone: number | undefined
  readonly startMs: number
  readonly durationMs: number
}

/** How much a note may differ. Opus and a jitter buffer blur an edge and stretch time a little. */
export interface Tolerance {
  /** A note may be longer or shorter by this. */
  readonly lengthMs: number
  /** Two notes may lie this far apart, and a note may be broken for this long. */
  readonly restMs: number
}

/**
 * What a call through Opus and a jitter buffer keeps to when nothing is wrong: on a busy machine Chromium's buffer
 * stretches one note by up to 60 ms as it adapts, and leaves no rest at all.
 */
export const CALL_TOLERANCE: Tolerance = { lengthMs: 75, restMs: 30 }

const FRAME = (RATE * 30) / 1000
const HOP = (RATE * 5) / 1000
const HOP_MS = 5
const SILENT_SHARE = 0.02
const TONE_SHARE = 0.5

const WINDOW = Float64Array.from(
  { length: FRAME },
  (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / FRAME),
)

/** What sounds in a recording at RATE, in order and without holes: each stretch begins where the last one ended. */
export function hear(recording: Float32Array, tune: readonly Tone[]): Heard[] {
  const frames = Math.max(0, Math.floor((recording.length - FRAME) / HOP) + 1)
  const energies = Float64Array.from({ length: frames }, (_, i) => energyOf(recording, i * HOP))
  const loud = [...energies].sort((a, b) => a - b)[Math.floor(frames * 0.9)] ?? 0
  const heard: { tone: number | undefined; startMs: number; durationMs: number }[] = []
  for (let i = 0; i < frames; i++) {
    const silent = energies[i]! <= loud * SILENT_SHARE
    const tone = silent ? undefined : strongest(recording, i * HOP, energies[i]!, tune)
    const last = heard.at(-1)
    if (last && last.tone === tone) last.durationMs += HOP_MS
    else heard.push({ tone, startMs: i * HOP_MS, durationMs: HOP_MS })
  }
  return heard
}

/**
 * Compares what was heard with the tune sung in a round. Gives one line for each fault; none means that from the
 * first marker to the end every note was there, in order, in full, without a gap. Needs at least one whole tune.
 */
export function faultsIn(
  heard: readonly Heard[],
  tune: readonly Tone[],
  tolerance = CALL_TOLERANCE,
): string[] {
  const notes = mend(heard, tolerance)
  const first = notes.findIndex(({ tone }, i) => tone === 0 && i > 0)
  if (first < 0) return ['the marker was not heard']
  // The last stretch may have been cut off by the end of the recording.
  const sung = notes.slice(first, -1)
  const faults: string[] = []
  if (sung.length < tune.length) faults.push(`only ${sung.length} of ${tune.length} notes after the marker`)
  let expected = 0
  for (const note of sung) {
    const at = `at ${note.startMs} ms`
    if (note.tone === undefined) {
      faults.push(`${at}: nothing for ${note.durationMs} ms`)
      continue
    }
    if (note.tone !== expected) faults.push(`${at}: note ${note.tone} instead of ${expected}`)
    const off = note.durationMs - tune[note.tone]!.durationMs
    if (Math.abs(off) > tolerance.lengthMs) faults.push(`${at}: note ${note.tone} is off by ${off} ms`)
    expected = (note.tone + 1) % tune.length
  }
  return faults
}

/** Gives short rests and smeared edges to the notes beside them, and joins what they had torn. */
function mend(heard: readonly Heard[], { restMs }: Tolerance): Heard[] {
  const mended: { tone: number | undefined; startMs: number; durationMs: number }[] = []
  let loose = 0
  for (const { tone, startMs, durationMs } of heard) {
    if (durationMs <= restMs) {
      loose += durationMs
      continue
    }
    // A rest made of several short pieces is still a rest.
    if (loose > restMs) mended.push({ tone: undefined, startMs: startMs - loose, durationMs: loose })
    const before = mended.at(-1)
    const half = loose > restMs ? 0 : loose / 2
    loose = 0
    if (before && before.tone === tone) {
      before.durationMs += durationMs + half * 2
      continue
    }
    if (before) before.durationMs += half
    mended.push({ tone, startMs: startMs - half, durationMs: durationMs + half })
  }
  return mended
}

function energyOf(samples: Float32Array, from: number): number {
  let sum = 0
  for (let n = 0; n < FRAME; n++) {
    const sample = samples[from + n]! * WINDOW[n]!
    sum += sample * sample
  }
  return sum
}

function strongest(
  samples: Float32Array,
  from: number,
  energy: number,
  tune: readonly Tone[],
): number | undefined {
  let best: number | undefined
  let most = TONE_SHARE
  for (const [i, { hertz }] of tune.entries()) {
    const share = goertzel(samples, from, hertz) / energy
    if (share <= most) continue
    most = share
    best = i
  }
  return best
}

/** The part of a windowed frame's energy that a tone of this pitch explains: 1 for a pure tone. */
function goertzel(samples: Float32Array, from: number, hertz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * hertz) / RATE)
  let s1 = 0
  let s2 = 0
  for (let n = 0; n < FRAME; n++) {
    const s0 = samples[from + n]! * WINDOW[n]! + turn * s1 - s2
    s2 = s1
    s1 = s0
  }
  const power = s1 * s1 + s2 * s2 - turn * s1 * s2
  // For a sine of amplitude a: power = (a·Σw/2)², energy = a²·Σw²/2; Hann has Σw = N/2 and Σw² = 3N/8.
  return power / (FRAME / 3)
}
