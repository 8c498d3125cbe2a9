/** Look-ups of a worker in the event loop, within their bounds. */

import type { Address } from '../../core/index.ts'
import { Decision } from './pure/decision.ts'
import { type LookUp, LookUps } from './pure/look-ups.ts'
import { recover } from './pure/recover.ts'
import type { RelayState } from './pure/relay-state.ts'
import type { Recovery } from './recovery.ts'

/** Asks the store about unknown clients, and takes in what it knows. */
export class LocalLookUps {
  readonly #state: RelayState
  readonly #recovery: Recovery
  readonly #lookUps: LookUps
  readonly #decision = new Decision()

  constructor(state: RelayState, recovery: Recovery, seed: number) {
    this.#state = state
    this.#recovery = recovery
    this.#lookUps = new LookUps(seed)
  }

  /** Starts a look-up unless the bounds say no. Returns at once. */
  ask(now: number, local: number, client: Address): void {
    const lookUp = this.#lookUps.begin(now, local, client)
    if (lookUp !== undefined) void this.#lookUp(lookUp)
  }

  async #lookUp(lookUp: LookUp): Promise<void> {
    const { local, client } = lookUp
    const at = this.#state.hops.placeOf(local)
    const pauseMs = await this.#recovery.lookUp(at, client.clone(), (found) =>
      recover(this.#state, performance.now(), local, client, found, this.#decision),
    )
    this.#lookUps.end(performance.now(), lookUp, pauseMs)
  }
}
