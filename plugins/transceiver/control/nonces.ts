/** The nonces of requests that were taken, so that none is taken twice. Bounded; pure: time is an input. */

import { CLOCK_WINDOW_MS } from './signature.ts'

/** A request that is dated ahead of our clock stays good for twice the window. */
const REMEMBERED_MS = CLOCK_WINDOW_MS * 2

/** A few hundred requests by id a second; only who holds a key can bring any. */
const MOST = 65_536

/** Remembers each nonce for at least as long as its request could be sent again. */
export class Nonces {
  readonly #most: number
  #young = new Set<string>()
  #old = new Set<string>()
  #since = Number.NEGATIVE_INFINITY

  /** `most` is how many there may be in one minute. */
  constructor(most = MOST) {
    this.#most = most
  }

  /** True the first time a nonce is seen; false when it was seen before, and for all that is more than can be kept. */
  take(nonce: string, now: number): boolean {
    this.#forget(now)
    if (this.#young.has(nonce) || this.#old.has(nonce) || this.#young.size >= this.#most) return false
    this.#young.add(nonce)
    return true
  }

  #forget(now: number): void {
    const age = now - this.#since
    if (age < REMEMBERED_MS) return
    this.#old = age < 2 * REMEMBERED_MS ? this.#young : new Set()
    this.#young = new Set()
    this.#since = now
  }
}
