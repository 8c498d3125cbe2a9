/**
 * The relay's drain: it goes on as it is, new flows included, since load balancers are slow to hear that it leaves.
 * It is over when nothing has come from transceivers for a while, or at the deadline.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../core/index.ts'
import { QUIET_MS } from './pure/limits.ts'
import { Silence } from './pure/silence.ts'
import type { RelayWorker } from './relay-worker.ts'

const LOOK_MS = 250
const WATCH_MS = 1_000

/** Knows how long transceivers have been silent, before a drain begins too. To be stopped by `close`. */
export class SilenceWatch {
  readonly #workers: readonly RelayWorker[]
  readonly #silence = new Silence()
  readonly #timer: NodeJS.Timeout

  constructor(workers: readonly RelayWorker[]) {
    this.#workers = workers
    this.#timer = setInterval(() => this.lasts(performance.now()), WATCH_MS)
    this.#timer.unref()
  }

  /** Flows that are confirmed, of all workers. */
  get flows(): number {
    return this.#workers.reduce((sum, { state }) => sum + state.flows.confirmed, 0)
  }

  /** Milliseconds since anything came from a transceiver; Infinity when nothing ever did. */
  lasts(now: number): number {
    this.#silence.note(
      now,
      this.#workers.reduce((sum, { state }) => sum + state.counters.packetsDown, 0),
    )
    return this.#silence.lasts(now)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Resolves when the relay may leave. A relay that carries nothing may at once. */
export async function drain(watch: SilenceWatch, log: Context['log'], deadline: AbortSignal): Promise<void> {
  const isQuiet = (): boolean => watch.lasts(performance.now()) >= QUIET_MS
  if (isQuiet()) return
  log.info({ flows: watch.flows }, 'relay goes on forwarding until its calls fall silent')
  while (!deadline.aborted) {
    await delay(LOOK_MS, undefined, { signal: deadline }).catch(() => {})
    if (isQuiet()) return
  }
}
