/** Time that moves only when a test moves it. */

interface Timer {
  at: number
  readonly run: () => void
  /** 0: once. */
  readonly every: number
}

/** A clock and its timers. Timers run inside `advance`, in the order of their times, and never by themselves. */
export class FakeClock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(start = 1_000_000) {
    this.#now = start
  }

  /** The present, in milliseconds. Bound, so that it can be handed over where a `() => number` is wanted. */
  readonly now = (): number => this.#now

  /** Timers that are still to run. */
  get pending(): number {
    return this.#timers.size
  }

  /** Runs once, in `delay` ms. The answer cancels it. */
  after(delay: number, run: () => void): () => void {
    return this.#add({ at: this.#now + delay, run, every: 0 })
  }

  /** Runs every `period` ms. The answer stops it. */
  every(period: number, run: () => void): () => void {
    if (!(period > 0)) throw new Error(`a period of ${period} ms would never let time pass`)
    return this.#add({ at: this.#now + period, run, every: period })
  }

  /** Moves on; what falls due on the way, also what that sets up, runs at its own time. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#now = Math.max(this.#now, timer.at)
      if (timer.every > 0) {
        timer.at += timer.every
        // To the back of the set, so that timers of one time take turns.
        this.#timers.delete(timer)
        this.#timers.add(timer)
      } else this.#timers.delete(timer)
      timer.run()
    }
    this.#now = end
  }

  /** Moves on as a process does that is busy: nothing runs until the next `advance`. */
  stall(ms: number): void {
    this.#now += ms
  }

  #add(timer: Timer): () => void {
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  #next(end: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer
    }
    return first
  }
}
