/** The recovery store in this process's memory: bounded, and nothing stays longer than 30 s after it was last noted. */

import type { Address, Recovered, RecoveryStore } from '../../core/index.ts'

const TTL_MS = 30_000
/** How many expired entries one `remember` takes along, so that it never costs much. */
const SWEEP = 8

/** The session as text of one character a byte: a typed array of its own costs ten times its bytes. */
interface Entry {
  readonly cluster: number
  readonly transceiver: Address
  readonly session: string
  readonly expires: number
}

/** Kept in the order in which entries were last noted, so the oldest, and the first to expire, is always in front. */
export class MemoryStore implements RecoveryStore {
  readonly #entries = new Map<string, Entry>()
  readonly #maxEntries: number
  readonly #now: () => number

  /** `now` in milliseconds; it must not go back. */
  constructor(maxEntries: number, now: () => number) {
    this.#maxEntries = maxEntries
    this.#now = now
  }

  /** Entries held, expired ones that no one has met yet included. */
  get size(): number {
    return this.#entries.size
  }

  remember(advertised: Address, client: Address, value: Recovered): void {
    this.sweep(SWEEP)
    const key = keyOf(advertised, client)
    // Setting alone would leave it at its old place in the order.
    this.#entries.delete(key)
    this.#entries.set(key, toEntry(value, this.#now() + TTL_MS))
    if (this.#entries.size > this.#maxEntries) this.#dropOldest()
  }

  forget(advertised: Address, client: Address, transceiver: Address): void {
    const key = keyOf(advertised, client)
    if (this.#entries.get(key)?.transceiver.equals(transceiver)) this.#entries.delete(key)
  }

  async recall(advertised: Address, client: Address): Promise<Recovered | undefined> {
    const entry = this.#entries.get(keyOf(advertised, client))
    return entry && entry.expires > this.#now() ? toRecovered(entry) : undefined
  }

  /** Drops up to `limit` expired entries. */
  sweep(limit: number): void {
    const now = this.#now()
    for (const [key, { expires }] of this.#entries) {
      if (expires > now || limit-- <= 0) return
      this.#entries.delete(key)
    }
  }

  #dropOldest(): void {
    for (const key of this.#entries.keys()) {
      this.#entries.delete(key)
      return
    }
  }
}

function keyOf(advertised: Address, client: Address): string {
  return `${advertised} ${client}`
}

function toEntry({ cluster, transceiver, session }: Recovered, expires: number): Entry {
  return { cluster, transceiver: transceiver.clone(), session: String.fromCharCode(...session), expires }
}

function toRecovered({ cluster, transceiver, session }: Entry): Recovered {
  return {
    cluster,
    transceiver: transceiver.clone(),
    session: Uint8Array.from(Buffer.from(session, 'latin1')),
  }
}
