/** Opens the relay's sockets: one for each public address, and the framed one towards transceivers, for each worker. */

import {
  type Address,
  type Context,
  type Datagram,
  EdgeError,
  type ThreadSocket,
  type ThreadUdp,
  type UdpCounters,
  type UdpEngine,
  type UdpPort,
} from '../../core/index.ts'
import type { ClusterOptions } from './cluster-options.ts'
import {
  type ClusterReceivers,
  type ClusterSockets,
  flat,
  openClusterSockets,
  openThreadClusterSockets,
} from './cluster-sockets.ts'
import { machineAddresses } from './machine-addresses.ts'
import { behind, known, OpenSockets, openGroup } from './open-sockets.ts'
import type { RelayPluginOptions } from './options.ts'
import { expandListen, type Listen } from './pure/listen-addresses.ts'

/** One of a relay's sockets, whoever reads it. */
export interface RelaySocket {
  readonly local: Address
  readonly counters: Readonly<UdpCounters>
  close(): Promise<void> | void
}

/** A worker's open sockets; `publics` are in the order of the operator's list. */
export interface RelaySockets<S extends RelaySocket = RelaySocket> {
  readonly publics: readonly S[]
  /** Where clients send to, for each of `publics`: where it is bound, unless the operator named another address. */
  readonly locals: readonly Address[]
  readonly upstream: S
  readonly relays: ClusterSockets<S>
  close(): Promise<void>
}

/** What the operator says of sockets. */
export type SocketOptions = Pick<RelayPluginOptions, 'listen' | 'upstream'> & ClusterOptions

/** Where received datagrams go. `local` is the public socket's index in `publics`. */
export interface Receivers extends ClusterReceivers {
  onClient(local: number, datagram: Datagram): void
}

/** Opens them all or none, on an engine of the event loop. Rejects as `openListed` does. */
export async function openSockets(
  udp: UdpEngine,
  options: SocketOptions,
  receivers: Receivers,
  log: Context['log'],
): Promise<RelaySockets<UdpPort>> {
  const open = new OpenSockets<UdpPort>()
  try {
    const { publics, locals } = await openListed(options.listen, log, async (address, local) =>
      open.add(await udp.open({ address, onDatagram: (d) => receivers.onClient(local, d) })),
    )
    const address = known(options.upstream)
    const upstream = open.add(await udp.open({ address, onDatagram: (d) => receivers.onTransceiver(d) }))
    const relays = await openClusterSockets(udp, options, receivers)
    for (const socket of flat(relays)) open.add(socket)
    return { publics, locals, upstream, relays, close: () => open.close() }
  } catch (error) {
    await open.close()
    throw error
  }
}

/**
 * Opens sockets for so many threads, all of them or none. Every thread has one for each public address: with several
 * the kernel gives each client to one of them, always the same, so they are all there before anything is read; the same
 * holds for relays of other clusters. The framed ones have the configured port and those behind it. Rejects as
 * `openListed` does.
 */
export async function openThreadSockets(
  udp: ThreadUdp,
  options: SocketOptions,
  threads: number,
  log: Context['log'],
): Promise<RelaySockets<ThreadSocket>[]> {
  const open = new OpenSockets<ThreadSocket>()
  try {
    const { publics: groups, locals } = await openListed(options.listen, log, (address) =>
      openGroup(udp, address, threads).map((socket) => open.add(socket)),
    )
    const base = known(options.upstream)
    const upstreams = Array.from({ length: threads }, (_, i) =>
      open.add(udp.open(behind(base, i), { reusePort: false })),
    )
    return openThreadClusterSockets(udp, options, threads).map((relays, i) => {
      const publics = groups.map((group) => group[i]!)
      const upstream = upstreams[i]!
      const close = async (): Promise<void> => {
        for (const socket of [...publics, upstream, ...flat(relays)]) socket.close()
      }
      return { publics, locals, upstream, relays, close }
    })
  } catch (error) {
    await open.close()
    throw error
  }
}

/**
 * Opens what `listen` names. Rejects with EdgeError `address_in_use` or `address_unavailable`; one address out of 0.0.0.0
 * or :: that cannot be bound is logged and left out.
 */
async function openListed<S extends RelaySocket | readonly RelaySocket[]>(
  listed: SocketOptions['listen'],
  log: Context['log'],
  open: (address: Address, local: number) => S | Promise<S>,
): Promise<{ publics: S[]; locals: Address[] }> {
  const publics: S[] = []
  const locals: Address[] = []
  const listen = listed.map(listenOf)
  for (const { address, advertise, isNamed } of expandListen(listen, machineAddresses())) {
    try {
      const opened = await open(address, publics.length)
      publics.push(opened)
      locals.push(advertise ?? firstOf(opened).local)
    } catch (error) {
      if (isNamed || !isUnavailable(error)) throw error
      log.warn({ err: error, address: address.toString() }, 'relay leaves out an address it cannot bind')
    }
  }
  if (publics.length > 0) return { publics, locals }
  throw new EdgeError(
    'address_unavailable',
    `none of ${listen.map(({ bind }) => bind).join(', ')} can be bound`,
  )
}

function firstOf(opened: RelaySocket | readonly RelaySocket[]): RelaySocket {
  return 'local' in opened ? opened : opened[0]!
}

/**
 * Every ip:port that leads to these sockets: bound, advertised, and an unspecified one by each of this machine's
 * addresses. What is sent to an advertised one may come back to us, or to our neighbour, which is no better.
 */
export function ownAddresses(sockets: readonly RelaySockets[], machine: readonly Address[]): Address[] {
  const first = sockets[0]!
  const own = [...first.publics.map((port) => port.local), ...first.locals]
  for (const { local } of sockets.flatMap(({ upstream, relays }) => [upstream, ...flat(relays)])) {
    if (!local.isUnspecified) own.push(local)
    else own.push(...machine.map((a) => a.clone().set(a.w0, a.w1, a.w2, a.w3, local.port)))
  }
  return own
}

function listenOf(entry: RelayPluginOptions['listen'][number]): Listen {
  if (typeof entry === 'string') return { bind: known(entry), advertise: undefined }
  return { bind: known(entry.bind), advertise: known(entry.advertise) }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof EdgeError && error.code === 'address_unavailable'
}
