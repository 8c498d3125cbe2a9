/**
 * Takes a caller's turns out of sound that comes in steps of 10 ms, each with or without a voice: where a turn begins,
 * where it ends, and what was said in it. Pure: the sound is the clock.
 */

import { STEP_MS } from './voice-detector.ts'

/** A turn begins when so many of the last WINDOW steps have a voice: shorter than a word, longer than a click. */
const ENOUGH = 8
const WINDOW = 12
const WINDOW_MASK = (1 << WINDOW) - 1
/** What was said before it was clear that somebody speaks belongs to the turn. */
const BEFORE_MS = 300
/** Of the silence that ended a turn, so much stays in it. */
const AFTER_MS = 100
/** A turn ends after this long, whether or not its speaker does. */
const LONGEST_MS = 30_000

/** What a step brought. */
export type TurnEvent =
  | { readonly type: 'started'; readonly atMs: number }
  | { readonly type: 'ended'; readonly atMs: number; readonly turn: readonly Buffer[] }

/** One caller's turns. */
export class TurnTaker {
  readonly #pauseMs: number
  #steps: Buffer[] = []
  #heard = 0
  #atMs = 0
  #quietMs = 0
  #speaking = false

  /** A silence of `pauseMs` ends a turn. */
  constructor(pauseMs: number) {
    this.#pauseMs = pauseMs
  }

  /** Takes a step, which it keeps. */
  step(bytes: Buffer, hasVoice: boolean): TurnEvent | undefined {
    this.#atMs += STEP_MS
    this.#steps.push(bytes)
    this.#heard = ((this.#heard << 1) | (hasVoice ? 1 : 0)) & WINDOW_MASK
    this.#quietMs = hasVoice ? 0 : this.#quietMs + STEP_MS
    if (!this.#speaking) return this.#listen()
    const isOver = this.#quietMs >= this.#pauseMs || this.#steps.length * STEP_MS >= LONGEST_MS
    return isOver ? this.end() : undefined
  }

  /** The caller's turn is over, whoever says so; undefined when it was not the caller's. */
  end(): TurnEvent | undefined {
    if (!this.#speaking) return undefined
    const excess = Math.max(0, this.#quietMs - AFTER_MS) / STEP_MS
    const turn = this.#steps.slice(0, this.#steps.length - excess)
    const atMs = this.#atMs - this.#quietMs
    this.forget()
    return { type: 'ended', atMs, turn }
  }

  /** What was said so far counts for nothing. */
  forget(): void {
    this.#steps = []
    this.#heard = 0
    this.#speaking = false
  }

  #listen(): TurnEvent | undefined {
    const most = BEFORE_MS / STEP_MS
    if (this.#steps.length > most) this.#steps.splice(0, this.#steps.length - most)
    if (ones(this.#heard) < ENOUGH) return undefined
    this.#speaking = true
    const first = Math.min(this.#steps.length, WINDOW)
    return { type: 'started', atMs: this.#atMs - first * STEP_MS }
  }
}

function ones(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
