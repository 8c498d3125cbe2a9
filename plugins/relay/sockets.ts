/** Opens the relay's sockets: one for each public address, and the framed one towards transceivers, for each worker. */

import {
  type Address,
  type Context,
  type Datagram,
  EdgeError,
  parseAddress,
  type ThreadSocket,
  type ThreadUdp,
  type UdpCounters,
  type UdpEngine,
  type UdpPort,
} from '../../core/index.ts'
import { machineAddresses } from './machine-addresses.ts'
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
  /** Those between relays. */
  readonly others?: readonly RelaySocket[]
  close(): Promise<void>
}

/** What the operator says of sockets. */
export type SocketOptions = Pick<RelayPluginOptions, 'listen' | 'upstream'>

/** Where received datagrams go. `local` is the public socket's index in `publics`. */
export interface Receivers {
  onClient(local: number, datagram: Datagram): void
  onTransceiver(datagram: Datagram): void
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
    return { publics, locals, upstream, close: () => open.close() }
  } catch (error) {
    await open.close()
    throw error
  }
}

/**
 * Opens sockets for so many threads, all of them or none. Every thread has one for each public address: with several
 * the kernel gives each client to one of them, always the same, so they are all there before anything is read. The
 * framed ones have the configured port and those behind it. Rejects as `openListed` does.
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
    return Array.from({ length: threads }, (_, i) => {
      const publics = groups.map((group) => group[i]!)
      const upstream = open.add(udp.open(behind(base, i), { reusePort: false }))
      const close = async (): Promise<void> => {
        for (const socket of [...publics, upstream]) socket.close()
      }
      return { publics, locals, upstream, close }
    })
  } catch (error) {
    await open.close()
    throw error
  }
}

/** As many sockets of one address, the first of which had it alone: the kernel lets anybody of ours join a shared one. */
function openGroup(udp: ThreadUdp, address: Address, threads: number): ThreadSocket[] {
  const first = udp.open(address, { reusePort: false })
  const group = [first]
  try {
    if (threads > 1) first.share()
    while (group.length < threads) group.push(udp.open(first.local, { reusePort: true }))
    return group
  } catch (error) {
    for (const socket of group) socket.close()
    throw error
  }
}

/** Port 0 takes any, for each. */
function behind(base: Address, i: number): Address {
  return base.port === 0 ? base : base.clone().set(base.w0, base.w1, base.w2, base.w3, base.port + i)
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

class OpenSockets<S extends RelaySocket> {
  readonly #open: S[] = []

  add(socket: S): S {
    this.#open.push(socket)
    return socket
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.map((socket) => socket.close()))
  }
}

/**
 * Every ip:port that leads to these sockets: bound, advertised, and an unspecified one by each of this machine's
 * addresses. What is sent to an advertised one may come back to us, or to our neighbour, which is no better.
 */
export function ownAddresses(sockets: readonly RelaySockets[], machine: readonly Address[]): Address[] {
  const first = sockets[0]!
  const own = [...first.publics.map((port) => port.local), ...first.locals]
  for (const { local } of sockets.flatMap(({ upstream, others = [] }) => [upstream, ...others])) {
    if (!local.isUnspecified) own.push(local)
    else own.push(...machine.map((a) => a.clone().set(a.w0, a.w1, a.w2, a.w3, local.port)))
  }
  return own
}

function listenOf(entry: RelayPluginOptions['listen'][number]): Listen {
  if (typeof entry === 'string') return { bind: known(entry), advertise: undefined }
  return { bind: known(entry.bind), advertise: known(entry.advertise) }
}

/** An address that the options' check has already read. */
function known(text: string): Address {
  const address = parseAddress(text)
  if (address === undefined) throw new EdgeError('config_invalid', `"${text}" is not an ip:port`)
  return address
}

function isUnavailable(error: unknown): boolean {
  return error instanceof EdgeError && error.code === 'address_unavailable'
}
