/** The relay's only worker where it has no threads: in the event loop, on ports of the engine in use. */

import type { Address, UdpEngine } from '../../core/index.ts'
import { Forwarder, type ForwarderEvents } from './forwarder.ts'
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
  options: SocketOptions,
  log: Parameters<typeof openSockets>[3],
  partsFor: (sockets: RelaySockets) => WorkerParts,
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
    },
    log,
  )
  const { publics, upstream } = sockets
  const { state, events } = partsFor(sockets)
  const outputs = {
    up: (bytes: Uint8Array, start: number, end: number, to: Address) => upstream.send(bytes, start, end, to),
    down: (local: number, bytes: Uint8Array, start: number, end: number, to: Address) =>
      publics[local]!.send(bytes, start, end, to),
  }
  forwarder = new Forwarder(state, outputs, events)
  const sweeper = setInterval(() => forwarder.sweep(performance.now()), SWEEP_MS)
  sweeper.unref()
  const close = async (): Promise<void> => {
    clearInterval(sweeper)
    await sockets.close()
  }
  return { state, sockets, thread: undefined, close }
}
