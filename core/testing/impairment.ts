/** What a bad network does to datagrams in one direction: loses, repeats, delays and reorders them, by a seed. */

import { Prng } from './prng.ts'

/** How bad. Everything defaults to 0: nothing happens. */
export interface Impairments {
  /** Probability from 0 to 1 that a datagram is lost. */
  readonly loss?: number
  /** Probability that it is delivered twice. */
  readonly duplicate?: number
  /** Probability that it is held back until the next one has passed, or for 20 ms. */
  readonly reorder?: number
  /** Every datagram's delay. */
  readonly delayMs?: number
  /** A random addition to the delay, from 0 up to this; it reorders. */
  readonly jitterMs?: number
}

const HELD_MS = 20

/** One direction of a bad network. */
export class Impairment {
  #how: Impairments
  #held: (() => void) | undefined
  readonly #random: Prng
  readonly #timers = new Set<NodeJS.Timeout>()
  #closed = false

  constructor(seed: number, how: Impairments = {}) {
    this.#random = new Prng(seed)
    this.#how = how
  }

  /** Replaces what happens from now on. */
  set(how: Impairments): void {
    this.#how = how
  }

  /** Delivers now, later, twice or never; false when never. */
  pass(deliver: () => void): boolean {
    const { loss = 0, duplicate = 0, reorder = 0, delayMs = 0, jitterMs = 0 } = this.#how
    // Always the same number of draws, so that one setting does not shift what another does to later datagrams.
    const lost = this.#random.chance(loss)
    const twice = this.#random.chance(duplicate)
    const late = this.#random.chance(reorder)
    const wait = delayMs + this.#random.next() * jitterMs
    if (lost || this.#closed) return false
    const run = (): void => {
      deliver()
      if (twice) deliver()
    }
    if (late && this.#held === undefined) this.#hold(run, wait)
    else {
      this.#after(wait, run)
      this.#letGo(wait)
    }
    return true
  }

  /** Drops what is delayed or held, and everything from now on. */
  close(): void {
    this.#closed = true
    this.#held = undefined
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #hold(run: () => void, wait: number): void {
    this.#held = run
    this.#after(wait + HELD_MS, () => {
      if (this.#held === run) this.#letGo(0)
    })
  }

  #letGo(wait: number): void {
    const run = this.#held
    this.#held = undefined
    if (run) this.#after(wait, run)
  }

  #after(wait: number, run: () => void): void {
    if (wait === 0) {
      run()
      return
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      run()
    }, wait)
    this.#timers.add(timer)
  }
}
