/** Remembers client → transceiver, so that another relay, or a restarted one, carries on before the next STUN check. */

import { service } from '../service.ts'
import type { Address } from '../wire/address.ts'

/** What is remembered of a confirmed flow. */
export interface Recovered {
  readonly cluster: number
  /** The transceiver's internal ip:port. */
  readonly transceiver: Address
  /** The session's 8 bytes, so that the recovery lands in the call's trace. */
  readonly session: Uint8Array
}

/** A store may be slow or down: then recovery is slower, and nothing else changes. */
export interface RecoveryStore {
  /**
   * Notes a confirmed flow, or refreshes it; kept for 30 s. Returns at once and never throws: the write happens
   * behind it. The addresses are copied before it returns.
   */
  remember(advertised: Address, client: Address, value: Recovered): void
  /** Forgets a flow, but only if it still points at this transceiver. Returns at once, never throws. */
  forget(advertised: Address, client: Address, transceiver: Address): void
  /** What is known of a client, or undefined. Rejects or stays silent when the store is down; `signal` ends the wait. */
  recall(advertised: Address, client: Address, signal: AbortSignal): Promise<Recovered | undefined>
}

/** The service key of the recovery store. */
export const RecoveryStore = service<RecoveryStore>('recovery-store')
