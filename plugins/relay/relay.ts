/** Puts a relay together: sockets, state, worker, recovery and spans. */

import type { Address, Context, RecoveryStore, RoutingCodec } from '../../core/index.ts'
import type { RelayPluginOptions } from './options.ts'
import { parsePortRange } from './pure/allowed-routes.ts'
import { ingressAddresses } from './pure/listen-addresses.ts'
import { type RelayState, relayState } from './pure/relay-state.ts'
import { Recovery } from './recovery.ts'
import { machineAddresses, openSockets, ownAddresses, type RelaySockets } from './sockets.ts'
import { FlowSpans } from './spans.ts'
import { RelayWorker, type WorkerEvents } from './worker.ts'

/** A relay that runs. */
export interface Relay {
  readonly state: RelayState
  readonly sockets: RelaySockets
  readonly recovery: Recovery | undefined
  readonly spans: FlowSpans
  /** What answers should carry. */
  readonly ingress: readonly Address[]
  /** Closes the sockets and ends look-ups. */
  close(): Promise<void>
}

/** What a relay needs of its host. */
export type RelayContext = Pick<Context, 'udp' | 'node' | 'log' | 'tracer' | 'tracing'>

/** What a relay needs of other plugins. */
export interface RelayServices {
  readonly codec: RoutingCodec
  readonly recovery: RecoveryStore | undefined
}

/** Binds and starts; `seed` is a random integer below 2^48. Rejects with EdgeError as `UdpEngine.open` does. */
export async function startRelay(
  options: RelayPluginOptions,
  { codec, recovery: store }: RelayServices,
  context: RelayContext,
  seed: number,
): Promise<Relay> {
  let worker: RelayWorker | undefined
  const sockets = await openSockets(
    context.udp,
    options,
    {
      onClient: (local, datagram) => worker?.onClient(local, datagram),
      onTransceiver: (datagram) => worker?.onTransceiver(datagram),
    },
    context.log,
  )
  const { locals } = sockets
  const spans = new FlowSpans(context, locals)
  const state = relayState({
    codec,
    locals,
    maxFlows: options.maxFlows,
    seed,
    cluster: context.node.cluster,
    cidrs: options.allow.cidrs,
    ports: parsePortRange(options.allow.ports)!,
    own: ownAddresses(sockets, machineAddresses()),
    onFlowEnd: (flow) => spans.ended(performance.now(), flow),
  })
  const ending = new AbortController()
  const recovery = store && startRecovery(state, store, context, seed, ending.signal, spans)
  worker = new RelayWorker(state, sockets, workerEvents(spans, recovery))
  return {
    state,
    sockets,
    recovery,
    spans,
    ingress: ingressAddresses(locals, context.node.reachable),
    async close() {
      ending.abort()
      worker?.close()
      spans.closing(performance.now(), state.flows)
      await sockets.close()
    },
  }
}

function startRecovery(
  state: RelayState,
  store: RecoveryStore,
  { node }: RelayContext,
  seed: number,
  signal: AbortSignal,
  spans: FlowSpans,
): Recovery {
  return new Recovery({
    state,
    store,
    node,
    seed,
    signal,
    onRecovered: (decision, tookMs) => spans.recovered(performance.now(), decision, tookMs),
  })
}

function workerEvents(spans: FlowSpans, recovery: Recovery | undefined): WorkerEvents {
  return {
    onFlowEvent(now, decision) {
      if (decision.event === 'opened') spans.opened(now, decision)
      else recovery?.remember(decision)
      if (decision.event === 'confirmed') spans.confirmed(now, decision)
    },
    onUnknownClient: (now, local, client) => recovery?.ask(now, local, client),
  }
}
