/**
 * How long a loop sleeps so that datagrams come together (interrupt moderation, in software): a system call for each of
 * few costs more than the wait. It sleeps only while a sleep is worth it, by what came lately; a busy loop needs none,
 * and to a quiet one it brings nothing. Pure: time is an input.
 */

import { BATCH } from './loop-control.ts'

/** The rate is measured over this long. Milliseconds. */
const WINDOW = 10

/** A sleep that gathers fewer datagrams than this costs more than it saves. */
const WORTH = 2

/** One loop's sleeps. */
export class Coalescing {
  readonly #longest: number
  #windowAt = Number.NEGATIVE_INFINITY
  #taken = 0
  /** Datagrams in a longest sleep, at the last window's rate. */
  #expected = 0

  /** `longest` in microseconds, 0 for never. */
  constructor(longest: number) {
    this.#longest = longest
  }

  /** Microseconds to sleep after a turn that took so many datagrams; 0 for none. */
  sleep(now: number, taken: number): number {
    if (this.#longest === 0) return 0
    this.#taken += taken
    const elapsed = now - this.#windowAt
    if (elapsed >= WINDOW) {
      this.#expected = (this.#taken / elapsed) * (this.#longest / 1000)
      this.#windowAt = now
      this.#taken = 0
    }
    return taken > 0 && taken < BATCH / 2 && this.#expected >= WORTH ? this.#longest : 0
  }
}
