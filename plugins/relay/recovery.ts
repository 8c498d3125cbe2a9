/** The relay's dealings with the recovery store: tells it of confirmed flows, asks it about unknown clients. */

import type { Address, Context, Recovered, RecoveryStore } from '../../core/index.ts'
import { Decision } from './pure/decision.ts'
import { FAILED_MS, FRUITLESS_MS, LOOK_UP_MS } from './pure/limits.ts'
import { type LookUp, LookUps } from './pure/look-ups.ts'
import { recover } from './pure/recover.ts'
import type { RelayState } from './pure/relay-state.ts'

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

/** What the relay does with a recovery store. */
export class Recovery {
  readonly counters: LookUpCounters = { hit: 0, miss: 0, refused: 0, failed: 0 }
  readonly #state: RelayState
  readonly #store: RecoveryStore
  readonly #cluster: number
  readonly #lookUps: LookUps
  readonly #decision = new Decision()
  readonly #signal: AbortSignal
  readonly #onRecovered: (decision: Decision, tookMs: number) => void

  constructor(options: {
    readonly state: RelayState
    readonly store: RecoveryStore
    readonly node: Pick<Context['node'], 'cluster'>
    readonly seed: number
    /** Aborts when the relay closes. */
    readonly signal: AbortSignal
    /** `decision` is reused afterwards. */
    onRecovered(decision: Decision, tookMs: number): void
  }) {
    this.#state = options.state
    this.#store = options.store
    this.#cluster = options.node.cluster
    this.#lookUps = new LookUps(options.seed)
    this.#signal = options.signal
    this.#onRecovered = options.onRecovered
  }

  /**
   * A route was confirmed or goes on. Only the incumbent is remembered: a session that comes from a spoofed address
   * takes no place in the store either.
   */
  remember({ isIncumbent, local, client, transceiver, session }: Decision): void {
    if (!isIncumbent) return
    this.#store.remember(this.#state.locals[local]!, client, {
      cluster: this.#cluster,
      transceiver,
      session: session.slice(),
    })
  }

  /** Starts a look-up unless the bounds say no. Returns at once. */
  ask(now: number, local: number, client: Address): void {
    const lookUp = this.#lookUps.begin(now, local, client)
    if (lookUp !== undefined) void this.#lookUp(now, lookUp)
  }

  async #lookUp(startedAt: number, lookUp: LookUp): Promise<void> {
    const found = await this.#recall(lookUp)
    const now = performance.now()
    const result = this.#use(now, lookUp, found)
    this.counters[result]++
    this.#lookUps.end(now, lookUp, PAUSE_MS[result])
    if (result === 'hit') this.#onRecovered(this.#decision, now - startedAt)
  }

  #use(
    now: number,
    { local, client }: LookUp,
    found: Recovered | undefined | 'failed',
  ): keyof LookUpCounters {
    if (found === undefined) return 'miss'
    if (found === 'failed') return 'failed'
    if (this.#signal.aborted) return 'refused'
    try {
      return recover(this.#state, now, local, client, found, this.#decision) ? 'hit' : 'refused'
    } catch {
      // A store that breaks its contract is one that failed; nothing hears of a rejection here but the process.
      return 'failed'
    }
  }

  /** What the store says, within LOOK_UP_MS even from a store that does not heed its signal. */
  async #recall(lookUp: LookUp): Promise<Recovered | undefined | 'failed'> {
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(LOOK_UP_MS)])
    const silence = new Promise<'failed'>((resolve) => {
      signal.addEventListener('abort', () => resolve('failed'), { once: true })
    })
    try {
      const advertised = this.#state.locals[lookUp.local]!
      return await Promise.race([this.#store.recall(advertised, lookUp.client, signal), silence])
    } catch {
      return 'failed'
    }
  }
}
