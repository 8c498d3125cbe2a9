/** The relay's only worker where it has no threads: in the event loop, on ports of the engine in use. */

import { type Address, type Datagram, parseAddress, type UdpEngine, type UdpPort } from '../../core/index.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { type ClusterSockets, openClusterSockets } from './cluster-sockets.ts'
import { Forwarder, type ForwarderEvents } from './forwarder.ts'
import { NatSockets } from './nat-sockets.ts'
import type { RelayState } from './pure/relay-state.ts'
import type { RelayWorker } from './relay-worker.ts'
import { openSockets, type RelaySockets, type SocketOptions } from './sockets.ts'

const SWEEP_MS = 250

/** What the worker is made of, once its sockets are open. */
export interface WorkerParts {
  readonly state: RelayState
  readonly events: ForwarderEvents
}

/** Opens the sockets and starts. Rejects with EdgeError as `openSockets` does. */
export async function eventLoopWorker(
  udp: UdpEngine,
  options: SocketOptions & ClusterOptions & { readonly framing: unknown },
  log: Parameters<typeof openSockets>[3],
  partsFor: (sockets: RelaySockets, servers: NatSockets | undefined) => WorkerParts,
): Promise<RelayWorker> {
  let forwarder: Forwarder | undefined
  const onTransceiver = ({ bytes, start, end, source }: Datagram): void =>
    forwarder?.onTransceiver(performance.now(), bytes, start, end, source)
  const relays = await openClusterSockets(udp, options, {
    onRelay: ({ bytes, start, end, source }) =>
      forwarder?.onRelay(performance.now(), bytes, start, end, source),
    onTransceiver,
  })
  const clients = openSockets(
    udp,
    options,
    {
      onClient: (local, { bytes, start, end, source }) =>
        forwarder?.onClient(performance.now(), local, bytes, start, end, source),
      onTransceiver,
    },
    log,
  )
  const sockets = await together(clients, relays)
  const { publics, upstream } = sockets
  const servers =
    options.framing === 'nat'
      ? new NatSockets(
          udp,
          parseAddress(options.upstream)!,
          log,
          (local, client, bytes, start, end, source) =>
            forwarder?.onServer(performance.now(), local, client, bytes, start, end, source),
        )
      : undefined
  const { state, events } = partsFor(sockets, servers)
  const outputs = {
    up: (bytes: Uint8Array, start: number, end: number, to: Address) => upstream.send(bytes, start, end, to),
    down: (local: number, bytes: Uint8Array, start: number, end: number, to: Address) =>
      publics[local]!.send(bytes, start, end, to),
    ...(relays ? { relays: relays.outputs } : {}),
    ...(servers ? { servers } : {}),
  }
  forwarder = new Forwarder(state, outputs, events)
  const sweeper = setInterval(() => forwarder.sweep(performance.now()), SWEEP_MS)
  sweeper.unref()
  const close = async (): Promise<void> => {
    clearInterval(sweeper)
    await Promise.all([sockets.close(), servers?.close()])
  }
  return { state, sockets, thread: undefined, close }
}

/** Both kinds of sockets, or none of them. */
async function together(
  clients: Promise<RelaySockets<UdpPort>>,
  relays: ClusterSockets | undefined,
): Promise<RelaySockets<UdpPort>> {
  const others = relays?.all ?? []
  const closeOthers = (): Promise<unknown> => Promise.all(others.map((port) => port.close()))
  const sockets = await clients.catch(async (error: unknown) => {
    await closeOthers()
    throw error
  })
  const close = async (): Promise<void> => {
    await sockets.close()
    await closeOthers()
  }
  return { ...sockets, others, close }
}
