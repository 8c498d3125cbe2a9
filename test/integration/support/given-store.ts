/** A recovery store that a test puts in place, as a plugin; every relay of the process shares it, as they do a Redis. */

import { type Address, definePlugin, type Recovered, RecoveryStore, Type } from '../../../core/index.ts'
import { MemoryStore } from '../../../plugins/memory-recovery/store.ts'

/** The store in place; may be exchanged at any time. */
export const given: { store: RecoveryStore } = { store: new MemoryStore(1000, () => performance.now()) }

/** A store whose look-ups wait until `answer` is called. What is remembered goes to the one behind it. */
export class HeldStore implements RecoveryStore {
  /** Look-ups that wait. */
  readonly waiting: (() => void)[] = []
  readonly #behind: RecoveryStore

  constructor(behind: RecoveryStore = new MemoryStore(1000, () => performance.now())) {
    this.#behind = behind
  }

  remember(advertised: Address, client: Address, value: Recovered): void {
    this.#behind.remember(advertised, client, value)
  }

  forget(advertised: Address, client: Address, transceiver: Address): void {
    this.#behind.forget(advertised, client, transceiver)
  }

  async recall(advertised: Address, client: Address, signal: AbortSignal): Promise<Recovered | undefined> {
    const found = await this.#behind.recall(advertised, client, signal)
    await new Promise<void>((resolve) => this.waiting.push(resolve))
    return found
  }

  /** Answers all that wait. */
  answer(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

/** A store that is down: it keeps nothing and rejects every look-up. */
export const downStore: RecoveryStore = {
  remember() {},
  forget() {},
  recall: () => Promise.reject(new Error('down')),
}

export default definePlugin({
  name: 'given-store',
  api: 1,
  options: Type.Object({}),
  provides: { recovery: RecoveryStore },
  setup: () => ({
    recovery: {
      remember: (advertised, client, value) => given.store.remember(advertised, client, value),
      forget: (advertised, client, transceiver) => given.store.forget(advertised, client, transceiver),
      recall: (advertised, client, signal) => given.store.recall(advertised, client, signal),
    },
  }),
})
