/** What transceivers and the recovery store know previous hops by: addresses out of 100::/64 (RFC 6666), nobody's. */

import type { Address } from '../../../core/index.ts'

/** The first word of every name; the second is 0. */
export const DISCARD_PREFIX = 0x0100_0000

/**
 * The name of a pair, which follows from it alone. Of IPv4 the relay's ip is in it: whatever a relay says that its
 * clients send to, it is not called as another relay.
 */
export function nameOf(relay: Address, proxy: Address, into: Address): Address {
  const high = relay.isIPv4 ? relay.w3 : relay.hash(0x5bd1e995)
  const low = proxy.hash(relay.hash(0x1b873593))
  return into.set(DISCARD_PREFIX, 0, high, low, relay.port)
}
