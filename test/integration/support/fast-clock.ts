/** Makes `performance.now()` run ahead, so that half a minute passes in seconds. Timers keep their real pace. */

/** Time that runs `factor` times as fast until it is disposed of; `jump` lets some pass at once. */
export class FastClock implements Disposable {
  readonly #real = performance.now.bind(performance)
  readonly #factor: number
  readonly #startedAt: number
  #jumped = 0

  constructor(factor = 1) {
    this.#factor = factor
    this.#startedAt = this.#real()
    performance.now = () => this.#startedAt + (this.#real() - this.#startedAt) * this.#factor + this.#jumped
  }

  /** `ms` pass at once. */
  jump(ms: number): void {
    this.#jumped += ms
  }

  /** Time is real again: what began under this clock should be over. */
  [Symbol.dispose](): void {
    performance.now = this.#real
  }
}
