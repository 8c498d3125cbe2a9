/**
 * Opens the sockets between relays: those that relays of other clusters send to, and 16 from which we send to theirs.
 * Threads share the address of the former; each of the latter is one thread's alone, since what a relay answers to it
 * is for a client of that thread.
 */

import type { Address, Datagram, ThreadSocket, ThreadUdp, UdpEngine, UdpPort } from '../../core/index.ts'
import { type ClusterOptions, SPREAD } from './cluster-options.ts'
import { behind, known, OpenSockets, openGroup } from './open-sockets.ts'

/** A worker's sockets between relays. */
export interface ClusterSockets<S> {
  /** Hears relays of other clusters. */
  readonly internal: S | undefined
  /** Send to them, and hear their answers. */
  readonly spread: readonly S[]
}

/** What the operator says of them. */
export type ClusterSocketOptions = ClusterOptions & { readonly upstream: string }

/** Where received datagrams go. */
export interface ClusterReceivers {
  /** Of a relay that has a client of ours. */
  onRelay(datagram: Datagram): void
  /** The answer of a relay to which we sent a client's. */
  onTransceiver(datagram: Datagram): void
}

/** Opens them all or none, on an engine of the event loop. Rejects as `UdpEngine.open` does. */
export async function openClusterSockets(
  udp: UdpEngine,
  options: ClusterSocketOptions,
  { onRelay, onTransceiver }: ClusterReceivers,
): Promise<ClusterSockets<UdpPort>> {
  const opened = new OpenSockets<UdpPort>()
  const open = async (address: Address, onDatagram: (datagram: Datagram) => void): Promise<UdpPort> =>
    opened.add(await udp.open({ address, onDatagram }))
  try {
    const internal = options.internal && (await open(known(options.internal.listen), onRelay))
    const spread: UdpPort[] = []
    for (const address of spreadAddresses(options, 1)) spread.push(await open(address, onTransceiver))
    return { internal, spread }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/**
 * Opens those of so many threads, all of them or none. Throws as `ThreadUdp.open` does. The 16 are dealt out to the
 * threads one by one; where there are more threads than that, each has one.
 */
export function openThreadClusterSockets(
  udp: ThreadUdp,
  options: ClusterSocketOptions,
  threads: number,
): ClusterSockets<ThreadSocket>[] {
  const opened: ThreadSocket[] = []
  try {
    const group = options.internal && openGroup(udp, known(options.internal.listen), threads)
    opened.push(...(group ?? []))
    const spread = spreadAddresses(options, threads).map((address) => {
      const socket = udp.open(address, { reusePort: false })
      opened.push(socket)
      return socket
    })
    return Array.from({ length: threads }, (_, thread) => ({
      internal: group?.[thread],
      spread: spread.filter((_, port) => port % threads === thread),
    }))
  } catch (error) {
    for (const socket of opened) socket.close()
    throw error
  }
}

/** All of a worker's. */
export function flat<S>({ internal, spread }: ClusterSockets<S>): S[] {
  return internal === undefined ? [...spread] : [internal, ...spread]
}

function spreadAddresses({ clusters, spread, upstream }: ClusterSocketOptions, threads: number): Address[] {
  if (clusters === undefined) return []
  const base = spread === undefined ? known(upstream).clone() : known(spread)
  if (spread === undefined) base.port = 0
  return Array.from({ length: Math.max(SPREAD, threads) }, (_, port) => behind(base, port))
}
