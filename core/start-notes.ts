/** What the host says once everything runs: where to go, and what of this machine is exposed how. */

import { networkInterfaces } from 'node:os'
import type { Logger } from 'pino'
import type { RootConfig } from './config/root-schema.ts'
import type { NodeIdentity } from './plugin.ts'
import { Address } from './wire/address.ts'
import { inCidrs, parseCidrs } from './wire/cidr.ts'

const PRIVATE = parseCidrs([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
])

/** One line with the URL, to open where there is a page (`hasPage`), and one that says ready. */
export function announce(
  log: Logger,
  { http, plugins }: RootConfig,
  address: Address,
  admin: Address | undefined,
  hasPage: boolean,
): void {
  const scheme = http.tls === false ? 'http' : 'https'
  const urls = urlsOf(scheme, address)
  log.info(`${hasPage ? 'open' : 'listening on'} ${urls.join(' or ')}`)
  const fields = { plugins: Object.keys(plugins), ...(admin ? { admin: `http://${admin}` } : {}) }
  log.info(fields, 'ready')
}

/** The URLs under which a listener can be reached from here and, if it listens everywhere, from the network. */
export function urlsOf(scheme: string, address: Address): string[] {
  const url = (host: string): string => `${scheme}://${host}:${address.port}/`
  if (!address.isUnspecified) return [url(address.isLoopback ? 'localhost' : bracketed(address.host))]
  const own = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
  return [url('localhost'), ...own.map((one) => url(one.address))]
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Warns of an admin listener that strangers can reach, and of answers that strangers cannot use. */
export function warnOfExposure(
  log: Logger,
  node: NodeIdentity,
  http: Address,
  admin: Address | undefined,
  services: Iterable<Readonly<Record<string, unknown>>>,
): void {
  if (admin && !admin.isLoopback) {
    log.warn(
      { address: admin },
      'the admin listener can be reached from other machines and asks for no key; keep it behind a firewall, or set admin.listen to 127.0.0.1',
    )
  }
  if (http.isLoopback) return
  const advertised = node.advertise ?? ingressAddresses(services)
  if (advertised.length > 0 && advertised.every(isPrivate)) {
    log.warn(
      { advertised },
      'callers from the internet cannot reach the advertised addresses, all of them are private; set node.advertise to public ip:port pairs',
    )
  }
}

/** True for addresses that mean nothing outside their own network. */
export function isPrivate(address: Address): boolean {
  return inCidrs(PRIVATE, address)
}

function ingressAddresses(services: Iterable<Readonly<Record<string, unknown>>>): Address[] {
  const found: Address[] = []
  for (const given of services) {
    for (const value of Object.values(given)) {
      if (typeof value !== 'object' || value === null || !('addresses' in value)) continue
      if (Array.isArray(value.addresses))
        found.push(...value.addresses.filter((one) => one instanceof Address))
    }
  }
  return found
}
