/** The model's recovery store, which all relays share. It may be down, or stale, and anybody may have written to it. */

import type { Address, Recovered } from '../../core/index.ts'
import type { Found } from './fleet-relay.ts'

const TTL_MS = 30_000

/** How the store behaves: as it should, not at all, or with the entry it had first, whatever came later. */
export type StoreMode = 'up' | 'down' | 'stale'

/** Who was where. */
export class FleetStore {
  mode: StoreMode = 'up'
  readonly #now: () => number
  /** By client, then by what it sends to or the previous hop that it comes by. */
  readonly #entries = new Map<string, Map<string, { readonly value: Recovered; readonly until: number }>>()

  constructor(now: () => number) {
    this.#now = now
  }

  remember(front: Address, client: Address, value: Recovered): void {
    const known = this.#of(client)
    if (this.mode === 'down' || (this.mode === 'stale' && known.has(String(front)))) return
    known.set(String(front), { value, until: this.#now() + TTL_MS })
  }

  recall(front: Address, client: Address): Found {
    if (this.mode === 'down') return 'down'
    const entry = this.#of(client).get(String(front))
    return entry && (entry.until > this.#now() || this.mode === 'stale') ? entry.value : undefined
  }

  /** Somebody writes over all that is known of a client, and beside it. */
  poison(front: Address, client: Address, value: Recovered): void {
    const known = this.#of(client)
    for (const key of [String(front), ...known.keys()]) known.set(key, { value, until: this.#now() + TTL_MS })
  }

  #of(client: Address): Map<string, { readonly value: Recovered; readonly until: number }> {
    const key = String(client)
    const known = this.#entries.get(key) ?? new Map()
    this.#entries.set(key, known)
    return known
  }
}
