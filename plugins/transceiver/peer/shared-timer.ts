/** Several named deadlines on one `setTimeout`, so that an association never has more than one timer running. */

interface Deadline {
  readonly at: number
  run(): void
}

/** Named deadlines, each run once. */
export interface Timer {
  /** Calls `run` once, `delayMs` from now, in place of the deadline of that name. */
  set(name: string, delayMs: number, run: () => void): void
  /** Forgets a deadline. */
  clear(name: string): void
}

/** The one timer. `close` it. */
export class SharedTimer implements Timer {
  readonly #deadlines = new Map<string, Deadline>()
  #timeout: NodeJS.Timeout | undefined
  #armedFor = Number.POSITIVE_INFINITY
  #closed = false

  set(name: string, delayMs: number, run: () => void): void {
    if (this.#closed) return
    this.#deadlines.set(name, { at: performance.now() + delayMs, run })
    this.#arm()
  }

  clear(name: string): void {
    this.#deadlines.delete(name)
    if (this.#deadlines.size === 0) this.#disarm()
  }

  /** Forgets all, and takes no more. */
  close(): void {
    this.#closed = true
    this.#deadlines.clear()
    this.#disarm()
  }

  #arm(): void {
    let earliest = Number.POSITIVE_INFINITY
    for (const { at } of this.#deadlines.values()) earliest = Math.min(earliest, at)
    // A timer that fires too early looks again: cheaper than one system timer for each change.
    if (earliest >= this.#armedFor) return
    this.#disarm()
    if (earliest === Number.POSITIVE_INFINITY) return
    this.#armedFor = earliest
    this.#timeout = setTimeout(() => this.#fire(), Math.max(1, earliest - performance.now()))
  }

  #disarm(): void {
    clearTimeout(this.#timeout)
    this.#timeout = undefined
    this.#armedFor = Number.POSITIVE_INFINITY
  }

  #fire(): void {
    this.#disarm()
    const now = performance.now()
    for (const [name, deadline] of [...this.#deadlines]) {
      if (deadline.at > now || this.#deadlines.get(name) !== deadline) continue
      this.#deadlines.delete(name)
      deadline.run()
    }
    this.#arm()
  }
}
