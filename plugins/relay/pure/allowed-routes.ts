/** Where the relay may send: decoded and recovered routes inside the operator's CIDRs and ports, never to itself. */

import { type Address, AllowedAddresses, type PortRange } from '../../../core/index.ts'
import type { DropReason } from './drop-reasons.ts'

/** How to make the check. */
export interface AllowedRoutesOptions {
  readonly cluster: number
  /** CIDRs as text, known to be good. */
  readonly cidrs: readonly string[]
  readonly ports: PortRange
  /** Every ip:port that leads to the relay itself. */
  readonly own: readonly Address[]
}

/** Decides on routes and on clients' addresses. */
export class AllowedRoutes {
  readonly #cluster: number
  readonly #own: readonly Address[]
  readonly #allowed: AllowedAddresses

  constructor(options: AllowedRoutesOptions) {
    this.#cluster = options.cluster
    this.#own = options.own
    this.#allowed = new AllowedAddresses(options.cidrs, options.ports)
  }

  /** Why a route may not be used, or undefined when it may. */
  refusal(cluster: number, address: Address): DropReason | undefined {
    if (cluster !== this.#cluster) return 'foreign_cluster'
    if (this.isOwn(address)) return 'own_address'
    return isUnicast(address) && this.#allowed.has(address) ? undefined : 'route_not_allowed'
  }

  /** Whether it leads to the relay itself. */
  isOwn(address: Address): boolean {
    for (let i = 0; i < this.#own.length; i++) if (this.#own[i]!.equals(address)) return true
    return false
  }

  /** Whether a client can have this address. */
  isClient(address: Address): boolean {
    return address.port !== 0 && isUnicast(address) && !this.isOwn(address)
  }
}

/** Neither unspecified nor multicast nor reserved for broadcast (RFC 6890). */
function isUnicast(address: Address): boolean {
  if (address.isUnspecified) return false
  return address.isIPv4 ? address.w3 >>> 24 < 224 && address.w3 >>> 24 > 0 : address.w0 >>> 24 !== 0xff
}
