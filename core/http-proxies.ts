/** Which proxies are believed when they say, in X-Forwarded-For, whose request they pass on. */

import type { FastifyRequest } from 'fastify'
import { type Address, parseAddress, toAddress } from './wire/address.ts'
import { inCidrs, parseCidrs } from './wire/cidr.ts'

/**
 * Tells whether a hop is a proxy that is believed, for Fastify's `trustProxy`; false, for a listener that believes nobody,
 * where none is listed. `proxies` are CIDRs that were checked.
 */
export function proxyMatcher(proxies: readonly string[]): ((hop: string) => boolean) | false {
  const ranges = parseCidrs(proxies)
  if (ranges.length === 0) return false
  return (hop) => {
    const address = hopAddress(hop)
    return address !== undefined && inCidrs(ranges, address)
  }
}

/**
 * The ip that a request came from, canonical: the nearest hop that is no proxy that is believed. What such a proxy writes
 * and is no address is not taken for one; then it is the proxy's own.
 */
export function clientIp({ ip, raw }: FastifyRequest): string {
  return (hopAddress(ip) ?? hopAddress(raw.socket.remoteAddress))?.host ?? '::'
}

/** An ip, or, as some balancers write, one with a port. A connection that has ended has none. */
function hopAddress(hop: string | undefined): Address | undefined {
  if (hop === undefined) return undefined
  return toAddress(hop, 0) ?? parseAddress(hop)
}
