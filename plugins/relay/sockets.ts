/** Opens the relay's sockets: one for each public address, and the framed one towards transceivers. */

import { networkInterfaces } from 'node:os'
import {
  type Address,
  type Context,
  type Datagram,
  EdgeError,
  parseAddress,
  toAddress,
  type UdpEngine,
  type UdpPort,
} from '../../core/index.ts'
import type { RelayPluginOptions } from './options.ts'
import { expandListen, type Listen } from './pure/listen-addresses.ts'

/** The open sockets; `publics` are in the order of the operator's list. */
export interface RelaySockets {
  readonly publics: readonly UdpPort[]
  /** Where clients send to, for each of `publics`: where it is bound, unless the operator named another address. */
  readonly locals: readonly Address[]
  readonly upstream: UdpPort
  close(): Promise<void>
}

/** Where received datagrams go. `local` is the public socket's index in `publics`. */
export interface Receivers {
  onClient(local: number, datagram: Datagram): void
  onTransceiver(datagram: Datagram): void
}

/** This machine's addresses; the ports are 0. */
export function machineAddresses(): Address[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .flatMap((entry) => toAddress(entry.address, 0) ?? [])
}

/**
 * Opens them all or none. Rejects with EdgeError `address_in_use` or `address_unavailable`; one address out of
 * 0.0.0.0 or :: that cannot be bound is logged and left out.
 */
export async function openSockets(
  udp: UdpEngine,
  options: Pick<RelayPluginOptions, 'listen' | 'upstream'>,
  receivers: Receivers,
  log: Context['log'],
): Promise<RelaySockets> {
  const publics: UdpPort[] = []
  const locals: Address[] = []
  const open: UdpPort[] = []
  const close = async (): Promise<void> => {
    await Promise.all(open.map((port) => port.close()))
  }
  try {
    const listen = options.listen.map(listenOf)
    for (const { address, advertise, isNamed } of expandListen(listen, machineAddresses())) {
      const local = publics.length
      try {
        const port = await udp.open({ address, onDatagram: (d) => receivers.onClient(local, d) })
        open.push(port)
        publics.push(port)
        locals.push(advertise ?? port.local)
      } catch (error) {
        if (isNamed || !isUnavailable(error)) throw error
        log.warn({ err: error, address: address.toString() }, 'relay leaves out an address it cannot bind')
      }
    }
    if (publics.length === 0) {
      throw new EdgeError(
        'address_unavailable',
        `none of ${listen.map(({ bind }) => bind).join(', ')} can be bound`,
      )
    }
    const upstream = await udp.open({
      address: known(options.upstream),
      onDatagram: (d) => receivers.onTransceiver(d),
    })
    open.push(upstream)
    return { publics, locals, upstream, close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Every ip:port that leads to these sockets: bound, advertised, and an unspecified one by each of this machine's
 * addresses. What is sent to an advertised one may come back to us, or to our neighbour, which is no better.
 */
export function ownAddresses(sockets: RelaySockets, machine: readonly Address[]): Address[] {
  const own = [...sockets.publics.map((port) => port.local), ...sockets.locals]
  const { local } = sockets.upstream
  if (!local.isUnspecified) return [...own, local]
  return [...own, ...machine.map((a) => a.clone().set(a.w0, a.w1, a.w2, a.w3, local.port))]
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
