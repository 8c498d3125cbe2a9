/** The relay's only worker where it has no threads: in the event loop, on ports of the engine in use. */

import { type Address, parseAddress, parseCidrs, type UdpEngine, type UdpPort } from '../../core/index.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { Forwarder, type ForwarderEvents, type Outputs, type RelayOutputs } from './forwarder.ts'
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
  options: SocketOptions & { readonly framing: unknown },
  log: Parameters<typeof openSockets>[3],
  partsFor: (sockets: RelaySockets, servers: NatSockets | undefined) => WorkerParts,
): Promise<RelayWorker> {
  let forwarder: Forwarder | undefined
  const sockets = await openSockets(
    udp,
    options,
    {
      onClient: (local, { bytes, start, end, source }) =>
        forwarder?.onClient(performance.now(), local, bytes, start, end, source),
      onTransceiver: ({ bytes, start, end, source }) =>
        forwarder?.onTransceiver(performance.now(), bytes, start, end, source),
      onRelay: ({ bytes, start, end, source }) =>
        forwarder?.onRelay(performance.now(), bytes, start, end, source),
    },
    log,
  )
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
  forwarder = new Forwarder(state, outputsOf(sockets, options, servers), events)
  const sweeper = setInterval(() => forwarder.sweep(performance.now()), SWEEP_MS)
  sweeper.unref()
  const close = async (): Promise<void> => {
    clearInterval(sweeper)
    await Promise.all([sockets.close(), servers?.close()])
  }
  return { state, sockets, thread: undefined, close }
}

function outputsOf(
  { publics, upstream, relays: { internal, spread } }: RelaySockets<UdpPort>,
  options: ClusterOptions,
  servers: NatSockets | undefined,
): Outputs {
  const relays: RelayOutputs = {
    trusted: parseCidrs(options.internal?.cidrs ?? []),
    ports: spread.length,
    across: (port, bytes, start, end, to) => spread[port]?.send(bytes, start, end, to),
    back: (bytes, start, end, to) => internal?.send(bytes, start, end, to),
  }
  return {
    up: (bytes: Uint8Array, start: number, end: number, to: Address) => upstream.send(bytes, start, end, to),
    down: (local: number, bytes: Uint8Array, start: number, end: number, to: Address) =>
      publics[local]!.send(bytes, start, end, to),
    ...(internal || spread.length > 0 ? { relays } : {}),
    ...(servers ? { servers } : {}),
  }
}
