/**
 * When the store is down and when it is back, so that the log says each once. It is down from the first fault, and back
 * when all that failed has worked again and nothing failed for a while: what flaps stays down. Time is an input.
 */

/** Nothing may fail for this long until it is back. Milliseconds. */
export const STEADY_MS = 3_000

/** Kinds of fault that one outage tells of; a server that finds ever new words does not fill the log. */
const MAX_TOLD = 4

/** What can fail on its own: reaching the server at all, and what it refuses to do. */
export type Side = 'link' | 'reads' | 'writes'

/** An outage's news: `down` when it begins, `still` when it turns out to have another cause as well. */
export type News = 'down' | 'still' | undefined

/** The store's outages, one after the other. */
export class Outage {
  /** How many have begun. */
  count = 0
  readonly #failing = new Set<Side>()
  readonly #told = new Set<string>()
  #since: number | undefined
  #workedAt = 0
  #failedAt = 0

  get isDown(): boolean {
    return this.#since !== undefined
  }

  /** Something failed. `kind` tells causes apart; without one it is news only when the outage begins with it. */
  failed(now: number, side: Side, kind?: string): News {
    this.#failing.add(side)
    this.#failedAt = now
    if (this.#since === undefined) {
      this.#since = now
      this.count++
      if (kind !== undefined) this.#told.add(kind)
      return 'down'
    }
    if (kind === undefined || this.#told.has(kind) || this.#told.size >= MAX_TOLD) return undefined
    this.#told.add(kind)
    return 'still'
  }

  /** Something worked: that side does, and the server can be reached. */
  worked(now: number, side: Side): void {
    if (this.#failing.size === 0) return
    this.#failing.delete('link')
    this.#failing.delete(side)
    this.#workedAt = now
  }

  /** How long an outage took, in milliseconds, once, when it is over. */
  over(now: number): number | undefined {
    if (this.#since === undefined || this.#failing.size > 0 || now - this.#failedAt < STEADY_MS)
      return undefined
    const took = this.#workedAt - this.#since
    this.#since = undefined
    this.#told.clear()
    return took
  }
}
