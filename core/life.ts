/** What plugins asked to be told: ready, drain, close. Kept in setup order; closed in the reverse of it. */

import type { Logger } from 'pino'
import { EdgeError } from './errors.ts'
import { LATE, within } from './time-limit.ts'

interface Wish<T> {
  readonly id: string
  readonly run: T
}

/** How long one plugin may take for a step of its start, in milliseconds. */
export const STEP_LIMIT = 10_000

/** How long all plugins together may take to close, in milliseconds; what comes late still gets LEAST each. */
const CLOSE_LIMIT = 5000
const LEAST = 50

/** How long plugins may take for their last words when a drain has run out of time, in milliseconds. */
const LAST_WORDS = 500

/** The life of all plugins of one process. */
export class Life {
  readonly #ready: Wish<() => void | Promise<void>>[] = []
  readonly #drain: Wish<(deadline: AbortSignal) => void | Promise<void>>[] = []
  readonly #close: Wish<() => void | Promise<void>>[] = []
  readonly #log: Logger
  readonly #limit: number

  constructor(log: Logger, limit = STEP_LIMIT) {
    this.#log = log
    this.#limit = limit
  }

  onReady(id: string, run: () => void | Promise<void>): void {
    this.#ready.push({ id, run })
  }

  onDrain(id: string, run: (deadline: AbortSignal) => void | Promise<void>): void {
    this.#drain.push({ id, run })
  }

  onClose(id: string, run: () => void | Promise<void>): void {
    this.#close.push({ id, run })
  }

  /** Runs a step of a plugin's start; throws EdgeError naming the plugin when it fails or takes too long. */
  async step<T>(id: string, what: string, run: () => T | Promise<T>): Promise<T> {
    let done: T | typeof LATE
    try {
      done = await within(this.#limit, run)
    } catch (cause) {
      const code = cause instanceof EdgeError ? cause.code : 'plugin_failed'
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new EdgeError(code, `plugin "${id}" failed in ${what}: ${reason}`, { cause })
    }
    if (done !== LATE) return done
    const seconds = this.#limit / 1000
    throw new EdgeError('plugin_failed', `plugin "${id}" was not done with ${what} after ${seconds} s`)
  }

  /** Runs every onReady, in setup order. */
  async ready(): Promise<void> {
    for (const { id, run } of this.#ready) await this.step(id, 'onReady', run)
  }

  /**
   * Runs every onDrain at once; resolves when all are done, or shortly after `milliseconds`: what is not done by then
   * hears `deadline` and may still say so to its clients. Never rejects.
   */
  async drain(milliseconds: number): Promise<void> {
    const deadline = new AbortController()
    const all = (): Promise<unknown> =>
      Promise.all(
        this.#drain.map(async ({ id, run }) => {
          try {
            await run(deadline.signal)
          } catch (err) {
            this.#log.error({ err, plugin: id }, 'plugin failed to drain')
          }
        }),
      )
    const work = all()
    const outcome = await within(milliseconds, () => work)
    deadline.abort()
    if (outcome !== LATE) return
    this.#log.warn({ seconds: milliseconds / 1000 }, 'drain ran out of time')
    await within(LAST_WORDS, () => work)
  }

  /** Runs every onClose, last in first out, whatever becomes of one; all within CLOSE_LIMIT. Never rejects. */
  async close(): Promise<void> {
    const until = performance.now() + Math.min(this.#limit, CLOSE_LIMIT)
    for (let wish = this.#close.pop(); wish; wish = this.#close.pop()) {
      const { id, run } = wish
      try {
        if ((await within(Math.max(LEAST, until - performance.now()), run)) === LATE) {
          this.#log.error({ plugin: id }, 'plugin did not close in time')
        }
      } catch (err) {
        this.#log.error({ err, plugin: id }, 'plugin failed to close')
      }
    }
  }
}
