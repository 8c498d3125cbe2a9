/** What is said of a relay once it listens: where, and what its sockets cannot reach. */

import { type Address, type Context, parseAddress, parseCidr } from '../../core/index.ts'
import { parseHostPort } from './cluster-options.ts'
import { machineAddresses } from './machine-addresses.ts'
import type { RelayPluginOptions } from './options.ts'
import type { Relay } from './relay.ts'

/** Says where it listens, once, and warns of what it will send to in vain. */
export function tellStart(
  log: Context['log'],
  options: RelayPluginOptions,
  { workers, locals }: Relay,
): void {
  const { publics, relays } = workers[0]!.sockets
  const first = options.spread && relays.spread[0]
  log.info(
    {
      listen: publics.map(({ local }) => String(local)),
      advertise: locals.map(String),
      upstream: workers.map(({ sockets }) => sockets.upstream.local.toString()),
      ...(relays.internal ? { internal: String(relays.internal.local) } : {}),
      ...(first ? { spread: String(first.local) } : {}),
      threads: workers.filter(({ thread }) => thread).length,
    },
    'relay listens',
  )
  for (const { option, address, beyond } of outOfReach(options, machineAddresses())) {
    log.warn(
      { [option]: address, beyond },
      `"${option}" is on loopback, which reaches this machine alone: give it an ip of this machine that the others reach`,
    )
  }
}

/** A socket on loopback, and what the options would have it send to elsewhere. */
export interface OutOfReach {
  readonly option: 'upstream' | 'spread'
  readonly address: string
  /** CIDRs and ip:ports, as the operator wrote them. */
  readonly beyond: readonly string[]
}

/** What sockets on loopback are to send to and cannot reach; `machine` has this machine's own addresses. Pure. */
export function outOfReach(options: RelayPluginOptions, machine: readonly Address[]): OutOfReach[] {
  const { upstream, allow, defaultUpstream, clusters = {}, spread } = options
  const isHere = (ip: Address): boolean => ip.isLoopback || machine.some((own) => own.sameHost(ip))
  const isElsewhere = (text: string): boolean => {
    const { host = '' } = parseHostPort(text) ?? {}
    const ip = parseCidr(host)?.network
    return ip !== undefined && !isHere(ip)
  }
  const transceivers = allow.cidrs.filter((text) => !isWithin(text, isHere))
  const servers = defaultUpstream === undefined ? [] : [defaultUpstream].filter(isElsewhere)
  const relays = Object.values(clusters).filter(isElsewhere)
  const found: OutOfReach[] =
    spread === undefined
      ? [{ option: 'upstream', address: upstream, beyond: [...transceivers, ...servers, ...relays] }]
      : [
          { option: 'upstream', address: upstream, beyond: [...transceivers, ...servers] },
          { option: 'spread', address: spread, beyond: relays },
        ]
  return found.filter(({ address, beyond }) => parseAddress(address)?.isLoopback && beyond.length > 0)
}

/** A range with loopback in it is meant for a machine alone; any other must be one address of this machine. */
function isWithin(cidr: string, isHere: (ip: Address) => boolean): boolean {
  const range = parseCidr(cidr)
  if (range === undefined) return true
  const { network, mask } = range
  if (network.isLoopback || network.isUnspecified) return true
  return mask[3] === -1 && isHere(network)
}
