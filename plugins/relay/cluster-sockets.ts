/** Opens the sockets between relays: one that relays of other clusters send to, and 16 from which we send to theirs. */

import {
  type Address,
  type Datagram,
  parseAddress,
  parseCidrs,
  type UdpEngine,
  type UdpPort,
} from '../../core/index.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { type RelayOutputs, SPREAD } from './forwarder.ts'

/** Where received datagrams go. */
export interface ClusterReceivers {
  /** Of a relay that has a client of ours. */
  onRelay(datagram: Datagram): void
  /** The answer of a relay to which we sent a client's. */
  onTransceiver(datagram: Datagram): void
}

/** The open sockets. */
export interface ClusterSockets {
  readonly all: readonly UdpPort[]
  readonly outputs: RelayOutputs
}

/** Opens them all or none; undefined where the options name no other cluster. Rejects as `UdpEngine.open` does. */
export async function openClusterSockets(
  udp: UdpEngine,
  options: ClusterOptions & { readonly upstream: string },
  { onRelay, onTransceiver }: ClusterReceivers,
): Promise<ClusterSockets | undefined> {
  const { clusters, internal } = options
  if (clusters === undefined && internal === undefined) return undefined
  const all: UdpPort[] = []
  const open = async (address: Address, onDatagram: (datagram: Datagram) => void): Promise<UdpPort> => {
    const port = await udp.open({ address, onDatagram })
    all.push(port)
    return port
  }
  try {
    const listener = internal && (await open(parseAddress(internal.listen)!, onRelay))
    const spread: UdpPort[] = []
    const base = firstOf(options)
    while (clusters && spread.length < SPREAD)
      spread.push(await open(behind(base, spread.length), onTransceiver))
    const outputs: RelayOutputs = {
      trusted: parseCidrs(internal?.cidrs ?? []),
      across: (port, bytes, start, end, to) => spread[port]?.send(bytes, start, end, to),
      back: (bytes, start, end, to) => listener?.send(bytes, start, end, to),
    }
    return { all, outputs }
  } catch (error) {
    await Promise.all(all.map((port) => port.close()))
    throw error
  }
}

function firstOf({ spread, upstream }: ClusterOptions & { readonly upstream: string }): Address {
  if (spread !== undefined) return parseAddress(spread)!
  const { w0, w1, w2, w3 } = parseAddress(upstream)!
  return parseAddress('0.0.0.0:0')!.set(w0, w1, w2, w3, 0)
}

function behind(base: Address, i: number): Address {
  return base.port === 0 ? base : base.clone().set(base.w0, base.w1, base.w2, base.w3, base.port + i)
}
