/** The relay's dealings with the recovery store: tells it of confirmed flows, asks it about unknown clients. */

import type { Address, Context, Recovered, RecoveryStore } from '../../core/index.ts'
import type { Decision } from './pure/decision.ts'
import type { Place } from './pure/hop-table.ts'
import { FAILED_MS, FRUITLESS_MS, LOOK_UP_MS } from './pure/limits.ts'
import type { FlowPath } from './spans.ts'

/** How look-ups ended: `hit` made a route, `refused` found one that may not be used or was no longer needed. */
export interface LookUpCounters {
  hit: number
  miss: number
  refused: number
  /** The store rejected, or stayed silent for too long. */
  failed: number
}

/** How long a look-up that ended so is not repeated. */
const PAUSE_MS: Readonly<Record<keyof LookUpCounters, number>> = {
  hit: 0,
  miss: FRUITLESS_MS,
  refused: FRUITLESS_MS,
  failed: FAILED_MS,
}

/** Makes a route of what the store knew, unless it may not be used. What it throws is the store's fault. */
export type UseFound = (found: Recovered) => boolean | Promise<boolean>

/** What the relay does with a recovery store, for all of its workers. */
export class Recovery {
  readonly counters: LookUpCounters = { hit: 0, miss: 0, refused: 0, failed: 0 }
  readonly #store: RecoveryStore
  readonly #cluster: number
  readonly #signal: AbortSignal
  readonly #onRecovered: (path: FlowPath, tookMs: number) => void

  constructor(options: {
    readonly store: RecoveryStore
    readonly node: Pick<Context['node'], 'cluster'>
    /** Aborts when the relay closes. */
    readonly signal: AbortSignal
    onRecovered(path: FlowPath, tookMs: number): void
  }) {
    this.#store = options.store
    this.#cluster = options.node.cluster
    this.#signal = options.signal
    this.#onRecovered = options.onRecovered
  }

  /**
   * A route of a client that sends to `at` was confirmed or goes on. Only the incumbent is remembered: a session that
   * comes from a spoofed address takes no place in the store either.
   */
  remember(at: Place, { isIncumbent, client, cluster, transceiver, session }: Decision): void {
    if (!isIncumbent) return
    this.#store.remember(at.name, client, {
      cluster: cluster < 0 ? this.#cluster : cluster,
      transceiver,
      session: session.slice(),
    })
  }

  /**
   * Asks the store about a client that sends to `at`, and hands what it knows to `use`. How long the same is not to be
   * asked again, in milliseconds. Never rejects; `client` is kept.
   */
  async lookUp(at: Place, client: Address, use: UseFound): Promise<number> {
    const startedAt = performance.now()
    const found = await this.#recall(at.name, client)
    const result = await this.#use(found, use)
    this.counters[result]++
    if (result === 'hit' && typeof found === 'object') {
      const { transceiver, session } = found
      const path = { local: at.proxy, client, transceiver, session }
      this.#onRecovered(path, performance.now() - startedAt)
    }
    return PAUSE_MS[result]
  }

  async #use(found: Recovered | undefined | 'failed', use: UseFound): Promise<keyof LookUpCounters> {
    if (found === undefined) return 'miss'
    if (found === 'failed') return 'failed'
    if (this.#signal.aborted) return 'refused'
    try {
      return (await use(found)) ? 'hit' : 'refused'
    } catch {
      // A store that breaks its contract is one that failed; nothing hears of a rejection here but the process.
      return 'failed'
    }
  }

  /** What the store says, within LOOK_UP_MS even from a store that does not heed its signal. */
  async #recall(name: Address, client: Address): Promise<Recovered | undefined | 'failed'> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(LOOK_UP_MS)])
    const silence = new Promise<'failed'>((resolve) => {
      signal.addEventListener('abort', () => resolve('failed'), { once: true })
    })
    try {
      return await Promise.race([this.#store.recall(name, client, signal), silence])
    } catch {
      return 'failed'
    }
  }
}
