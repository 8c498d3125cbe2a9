/**
 * The relay's drain: it goes on as it is, new flows included, since load balancers are slow to hear that it leaves.
 * It is over when nothing has come from transceivers for a while, or at the deadline; at once when all its calls are of
 * transceivers in this very process, which drain them and close before it.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Address, Context } from '../../core/index.ts'
import { QUIET_MS } from './pure/limits.ts'
import { Silence } from './pure/silence.ts'
import type { RelayWorker } from './relay-worker.ts'

const LOOK_MS = 250
const WATCH_MS = 1_000

/** Flows that are looked at in one go. */
const PAGE = 500

/** What a transceiver said last, when it closed just now, may wait in our socket for so long. */
const LAST_WORDS_MS = 100

/** Knows how long transceivers have been silent, before a drain begins too. To be stopped by `close`. */
export class SilenceWatch {
  readonly #workers: readonly RelayWorker[]
  readonly #silence = new Silence()
  readonly #timer: NodeJS.Timeout
  readonly #own = new Set<string>()

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

  /** A transceiver in this process, which closes before the relay. */
  closesFirst(transceiver: Address): void {
    this.#own.add(transceiver.toString())
  }

  /** Whether any transceiver is in this process. */
  get hasOwn(): boolean {
    return this.#own.size > 0
  }

  /** Whether any flow leads to a transceiver elsewhere. */
  get leadsElsewhere(): boolean {
    return !this.hasOwn || this.#workers.some(({ state }) => this.#hasOthers(state.flows))
  }

  #hasOthers(flows: RelayWorker['state']['flows']): boolean {
    for (let at: number | undefined = 0; at !== undefined; ) {
      const page: ReturnType<typeof flows.page> = flows.page(at, PAGE)
      for (const { routes } of page.flows) {
        if (routes.some(({ transceiver }) => !this.#own.has(transceiver.toString()))) return true
      }
      at = page.next
    }
    return false
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Resolves when the relay may leave. A relay that carries nothing may at once. */
export async function drain(watch: SilenceWatch, log: Context['log'], deadline: AbortSignal): Promise<void> {
  const isDone = (): boolean => watch.lasts(performance.now()) >= QUIET_MS || !watch.leadsElsewhere
  if (isDone()) return
  log.info({ flows: watch.flows }, 'relay goes on forwarding until its calls fall silent')
  while (!deadline.aborted) {
    await delay(LOOK_MS, undefined, { signal: deadline }).catch(() => {})
    if (isDone()) return
  }
}

/** Resolves when what transceivers in this process said last, before they closed just now, has been forwarded. */
export async function lastWords(watch: SilenceWatch): Promise<void> {
  if (watch.hasOwn && watch.flows > 0) await delay(LAST_WORDS_MS)
}
