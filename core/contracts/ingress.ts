/** Where clients reach this process's relay: what a transceiver in the same process advertises by itself. */

import { service } from '../service.ts'
import type { Address } from '../wire/address.ts'

/** The relay's public face. */
export interface Ingress {
  /** The bound public ip:port pairs, in the order in which answers should carry them. */
  readonly addresses: readonly Address[]
  /**
   * A transceiver in this process says where relays reach it. It drains its calls itself, and closes before the relay
   * does, so the relay's drain waits for no calls of it.
   */
  closesFirst(transceiver: Address): void
}

/** The service key of the ingress. */
export const Ingress = service<Ingress>('ingress')
