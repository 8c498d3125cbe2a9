/** Recovery stores for the kit's own test: one that is right, one that is right and late, and many that are broken. */

import type { Recovered, RecoveryStore } from '../../../../core/contracts/recovery-store.ts'
import { FakeClock } from '../../../../core/testing/fake-clock.ts'
import type { Address } from '../../../../core/wire/address.ts'

/** How many flows each of them holds. */
export const CAPACITY = 5

/** A store that is right and simple. The tests break one method at a time. */
export class SimpleStore implements RecoveryStore {
  readonly clock = new FakeClock()
  readonly entries = new Map<string, { value: Recovered; expires: number }>()

  key(advertised: Address, client: Address): string {
    return `${advertised} ${client}`
  }

  copy({ cluster, transceiver, session }: Recovered): Recovered {
    return { cluster, transceiver: transceiver.clone(), session: Uint8Array.from(session) }
  }

  note(key: string, value: Recovered): void {
    this.entries.delete(key)
    this.entries.set(key, { value, expires: this.clock.now() + 30_000 })
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= CAPACITY) break
      this.entries.delete(oldest)
    }
  }

  remember(advertised: Address, client: Address, value: Recovered): void {
    this.note(this.key(advertised, client), this.copy(value))
  }

  forget(advertised: Address, client: Address, transceiver: Address): void {
    const key = this.key(advertised, client)
    if (this.entries.get(key)?.value.transceiver.equals(transceiver)) this.entries.delete(key)
  }

  async recall(advertised: Address, client: Address, _signal: AbortSignal): Promise<Recovered | undefined> {
    const entry = this.entries.get(this.key(advertised, client))
    return entry && entry.expires > this.clock.now() ? this.copy(entry.value) : undefined
  }
}

/** Writes a moment later, as a store behind a network does. */
export class LateStore extends SimpleStore {
  override remember(advertised: Address, client: Address, value: Recovered): void {
    const [key, copy] = [this.key(advertised, client), this.copy(value)]
    setImmediate(() => this.note(key, copy))
  }

  override forget(advertised: Address, client: Address, transceiver: Address): void {
    const [a, c, t] = [advertised.clone(), client.clone(), transceiver.clone()]
    setImmediate(() => super.forget(a, c, t))
  }
}

/** What is broken → the check that must fail because of it. */
export const BROKEN: Record<string, [check: RegExp, make: () => SimpleStore]> = {
  'loses the cluster': [
    /recalls what it was told/,
    () =>
      new (class extends SimpleStore {
        override copy(value: Recovered): Recovered {
          return { ...super.copy(value), cluster: 1 }
        }
      })(),
  ],
  'looks at the ip alone': [
    /knows nothing of others/,
    () =>
      new (class extends SimpleStore {
        override key(advertised: Address, client: Address): string {
          return `${advertised} ${client.host}`
        }
      })(),
  ],
  'does not look at the advertised address': [
    /knows nothing of others/,
    () =>
      new (class extends SimpleStore {
        override key(_advertised: Address, client: Address): string {
          return `${client}`
        }
      })(),
  ],
  'keeps what it knew first': [
    /replaces what it knew/,
    () =>
      new (class extends SimpleStore {
        override note(key: string, value: Recovered): void {
          if (!this.entries.has(key)) super.note(key, value)
        }
      })(),
  ],
  'forgets without comparing': [
    /forgets a flow that still points there/,
    () =>
      new (class extends SimpleStore {
        override forget(advertised: Address, client: Address): void {
          this.entries.delete(this.key(advertised, client))
        }
      })(),
  ],
  'compares the ip alone': [
    /forgets a flow that still points there/,
    () =>
      new (class extends SimpleStore {
        override forget(advertised: Address, client: Address, transceiver: Address): void {
          const key = this.key(advertised, client)
          if (this.entries.get(key)?.value.transceiver.sameHost(transceiver)) this.entries.delete(key)
        }
      })(),
  ],
  'never forgets': [
    /forgets a flow that still points there/,
    () =>
      new (class extends SimpleStore {
        override forget(): void {}
      })(),
  ],
  'gives a promise to wait for': [
    /returns at once/,
    () =>
      new (class extends SimpleStore {
        override async remember(): Promise<void> {}
      })(),
  ],
  'keeps what it is given': [
    /copies what it is given/,
    () =>
      new (class extends SimpleStore {
        override copy(value: Recovered): Recovered {
          return value
        }
      })(),
  ],
  'hands out its own': [
    /copies what it is given/,
    () =>
      new (class extends SimpleStore {
        override async recall(advertised: Address, client: Address): Promise<Recovered | undefined> {
          return this.entries.get(this.key(advertised, client))?.value
        }
      })(),
  ],
  'reads the client when it writes': [
    /copies what it is given/,
    () =>
      new (class extends SimpleStore {
        override remember(advertised: Address, client: Address, value: Recovered): void {
          const copy = this.copy(value)
          setImmediate(() => this.note(this.key(advertised, client), copy))
        }
      })(),
  ],
  'reads the client when it forgets': [
    /copies what it is given/,
    () =>
      new (class extends SimpleStore {
        override forget(advertised: Address, client: Address, transceiver: Address): void {
          setImmediate(() => super.forget(advertised, client, transceiver))
        }
      })(),
  ],
  'never ends an aborted recall': [
    /survives an aborted recall/,
    () =>
      new (class extends SimpleStore {
        override recall(advertised: Address, client: Address, signal: AbortSignal) {
          if (signal.aborted) return new Promise<never>(() => {})
          return super.recall(advertised, client, signal)
        }
      })(),
  ],
  'breaks when a recall is aborted': [
    /survives an aborted recall/,
    () =>
      new (class extends SimpleStore {
        override async recall(advertised: Address, client: Address, signal: AbortSignal) {
          if (signal.aborted) this.entries.clear()
          return super.recall(advertised, client, signal)
        }
      })(),
  ],
  'never lets go': [
    /30 s after/,
    () =>
      new (class extends SimpleStore {
        override note(key: string, value: Recovered): void {
          this.entries.set(key, { value, expires: Number.POSITIVE_INFINITY })
        }
      })(),
  ],
  'lets go too early': [
    /30 s after/,
    () =>
      new (class extends SimpleStore {
        override note(key: string, value: Recovered): void {
          this.entries.set(key, { value, expires: this.clock.now() + 20_000 })
        }
      })(),
  ],
  'does not refresh': [
    /30 s after/,
    () =>
      new (class extends SimpleStore {
        override note(key: string, value: Recovered): void {
          if (!this.entries.has(key)) super.note(key, value)
        }
      })(),
  ],
  'refreshes on reading': [
    /30 s after/,
    () =>
      new (class extends SimpleStore {
        override async recall(advertised: Address, client: Address, signal: AbortSignal) {
          const found = await super.recall(advertised, client, signal)
          if (found) this.note(this.key(advertised, client), found)
          return found
        }
      })(),
  ],
  'grows without end': [
    /no more than it may/,
    () =>
      new (class extends SimpleStore {
        override note(key: string, value: Recovered): void {
          this.entries.set(key, { value, expires: this.clock.now() + 30_000 })
        }
      })(),
  ],
  'lets the first noted go, not the oldest': [
    /no more than it may/,
    () =>
      new (class extends SimpleStore {
        override note(key: string, value: Recovered): void {
          const known = this.entries.get(key)
          if (known) this.entries.set(key, { value, expires: this.clock.now() + 30_000 })
          else super.note(key, value)
        }
      })(),
  ],
}
