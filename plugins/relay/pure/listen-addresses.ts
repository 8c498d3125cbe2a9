/** From what the operator wrote to what is bound, and from what clients know to what answers should carry. */

import type { Address } from '../../../core/index.ts'
import { MAX_INGRESS } from './limits.ts'

/** What the operator listed: where to bind, and where clients send to when that is another address. */
export interface Listen {
  readonly bind: Address
  readonly advertise: Address | undefined
}

/** An address to bind, and whether it was named or stands for a part of 0.0.0.0 or ::. */
export interface ListenAddress {
  readonly address: Address
  /** As clients know it; undefined when they send to `address` itself. */
  readonly advertise: Address | undefined
  readonly isNamed: boolean
}

/**
 * Replaces 0.0.0.0 and :: by this machine's addresses of that family, link-local IPv6 ones left out (a client cannot
 * use them without a zone). Each address comes once.
 */
export function expandListen(listen: readonly Listen[], machine: readonly Address[]): ListenAddress[] {
  const all: ListenAddress[] = []
  const add = (address: Address, isNamed: boolean, advertise?: Address): void => {
    if (!all.some((known) => known.address.equals(address) && address.port !== 0))
      all.push({ address, isNamed, advertise })
  }
  for (const { bind, advertise } of listen) if (!bind.isUnspecified) add(bind, true, advertise)
  for (const { bind: address } of listen) {
    if (!address.isUnspecified) continue
    for (const own of machine) {
      if (own.isIPv4 !== address.isIPv4 || isLinkLocal(own)) continue
      add(own.clone().set(own.w0, own.w1, own.w2, own.w3, address.port), false)
    }
  }
  return all
}

/**
 * The addresses, as clients know them, that answers should carry, at most MAX_INGRESS. With HTTP on this machine alone, loopback comes
 * first; once it is reachable from elsewhere, loopback is left out unless there is nothing else.
 */
export function ingressAddresses(locals: readonly Address[], reachable: boolean): Address[] {
  const loopback = locals.filter((address) => address.isLoopback)
  const others = locals.filter((address) => !address.isLoopback)
  const ranked = reachable && others.length > 0 ? others : [...loopback, ...others]
  return ranked.slice(0, MAX_INGRESS).map((address) => address.clone())
}

/** fe80::/10 (RFC 4291 §2.5.6). */
function isLinkLocal(address: Address): boolean {
  return !address.isIPv4 && address.w0 >>> 22 === 0xfe80 >>> 6
}
