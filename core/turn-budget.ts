/**
 * How long readers that share a thread may go on in one turn of its event loop: together for about a fixed time, and
 * where several would go on for longer, each for its part of it. Pure: the time is an input.
 */

/** What a budget knows of one reader. */
export class ReaderShare {
  turn = -1
  atMs = 0
  tookMs = 0
}

/** One thread's budget. */
export class TurnBudget {
  readonly #turnMs: number
  #shareMs: number
  #turn = 0
  #tookMs = 0
  #stopped = 0

  /** All readers together go on for about `turnMs`; each takes one thing at least. */
  constructor(turnMs: number) {
    this.#turnMs = turnMs
    this.#shareMs = turnMs
  }

  /**
   * A reader is about to take something. Returns whether it may take more in this turn; if not, it comes back in the
   * next. What it took last counts up to now.
   */
  take(reader: ReaderShare, nowMs: number): boolean {
    if (reader.turn === this.#turn) {
      const took = nowMs - reader.atMs
      reader.tookMs += took
      this.#tookMs += took
    } else {
      reader.turn = this.#turn
      reader.tookMs = 0
    }
    reader.atMs = nowMs
    const goesOn = reader.tookMs < this.#shareMs && this.#tookMs < this.#turnMs
    if (!goesOn) this.#stopped++
    return goesOn
  }

  /** The event loop has turned. Those who had to stop in the last turn share this one. */
  nextTurn(): void {
    this.#shareMs = this.#turnMs / Math.max(1, this.#stopped)
    this.#turn++
    this.#tookMs = 0
    this.#stopped = 0
  }
}
