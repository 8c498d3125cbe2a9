/** Puts a relay together: sockets, workers, recovery and spans. */

import {
  type Address,
  bareFraming,
  type Context,
  framing,
  keysOf,
  parseAddress,
  parsePortRange,
  type RecoveryStore,
  type RoutingCodec,
} from '../../core/index.ts'
import { ClusterNames, otherNames, type Resolve, reachedFrom } from './cluster-names.ts'
import { eventLoopWorker } from './event-loop-worker.ts'
import { LocalLookUps } from './local-look-ups.ts'
import { machineAddresses } from './machine-addresses.ts'
import type { RelayPluginOptions } from './options.ts'
import { HopTable } from './pure/hop-table.ts'
import { NAT_FLOWS } from './pure/limits.ts'
import { ingressAddresses } from './pure/listen-addresses.ts'
import { OtherClusters } from './pure/other-clusters.ts'
import { type RelayOptions, relayState } from './pure/relay-state.ts'
import { Recovery } from './recovery.ts'
import type { FlowListener, RelayWorker } from './relay-worker.ts'
import { openThreadSockets, ownAddresses, type RelaySockets } from './sockets.ts'
import { FlowSpans } from './spans.ts'
import { cpuOf, planThreads, type ThreadPlan } from './threads/thread-plan.ts'
import { threadedWorker, threadMemories } from './threads/threaded-workers.ts'

/** A relay that runs. */
export interface Relay {
  /** At least one. */
  readonly workers: readonly RelayWorker[]
  /** Our public addresses as clients know them. */
  readonly locals: readonly Address[]
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

/** How the names of other clusters' relays are found, and how often anew, in milliseconds: see ClusterNames. */
export interface NameLookUp {
  readonly resolve?: Resolve
  readonly againMs?: number
}

/** Binds and starts; `seed` is a random integer below 2^48. Rejects with EdgeError as `UdpEngine.open` does. */
export async function startRelay(
  options: RelayPluginOptions,
  services: RelayServices,
  context: RelayContext,
  seed: number,
  names: NameLookUp = {},
): Promise<Relay> {
  const plan = planThreads(options, services.codec, context)
  const start = new Start(options, services, context, seed, names)
  return plan ? start.inThreads(plan) : start.inEventLoop()
}

class Start {
  readonly #options: RelayPluginOptions
  readonly #services: RelayServices
  readonly #context: RelayContext
  readonly #seed: number
  readonly #names: NameLookUp
  readonly #ending = new AbortController()

  constructor(
    options: RelayPluginOptions,
    services: RelayServices,
    context: RelayContext,
    seed: number,
    names: NameLookUp,
  ) {
    this.#options = options
    this.#services = services
    this.#context = context
    this.#seed = seed
    this.#names = names
  }

  async inEventLoop(): Promise<Relay> {
    const { udp, log } = this.#context
    const around = this.#around()
    const worker = await eventLoopWorker(udp, this.#options, log, (sockets, servers) => {
      const hops = new HopTable(sockets.locals)
      const { recovery } = around
      const listener = listen(around, hops)
      const onFlowEnd: RelayOptions['onFlowEnd'] = (flow, reference) => {
        listener.onFlowEnd(performance.now(), flow)
        servers?.ended(reference)
      }
      const clusters = this.#otherClusters(sockets)
      const state = relayState({ ...this.#rules([sockets], 1), hops, clusters, onFlowEnd })
      const lookUps = recovery && new LocalLookUps(state, recovery, this.#seed)
      return {
        state,
        events: { ...listener, onUnknownClient: (now, local, client) => lookUps?.ask(now, local, client) },
      }
    })
    return this.#relay([worker], around)
  }

  async inThreads({ udp, codec, threads, pins }: ThreadPlan): Promise<Relay> {
    const { log } = this.#context
    const sockets = await openThreadSockets(udp, this.#options, threads, log)
    const around = this.#around()
    const { recovery } = around
    const state = this.#rules(sockets, threads)
    const listenTo = (hops: HopTable): FlowListener => listen(around, hops)
    const memories = threadMemories(threads, state)
    const clusters = this.#otherClusters(sockets[0]!)
    const parts = { udp, codec, state, memories, options: this.#options, clusters, log, recovery, listenTo }
    const started = await Promise.allSettled(
      sockets.map((own, i) => threadedWorker(parts, own, i, pins ? cpuOf(udp, i) : undefined)),
    )
    const workers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const failure = started.find((one) => one.status === 'rejected')
    if (failure === undefined) return this.#relay(workers, around)
    this.#ending.abort()
    await Promise.all(workers.map((worker) => worker.close()))
    await Promise.all(
      sockets.filter((own) => !workers.some((w) => w.sockets === own)).map((own) => own.close()),
    )
    throw failure.reason
  }

  #rules(sockets: readonly RelaySockets[], workers: number): RelayOptions {
    const { allow, maxFlows, defaultUpstream } = this.#options
    const isNat = this.#options.framing === 'nat'
    return {
      codec: this.#services.codec,
      framing: isNat ? bareFraming : framing(keysOf(this.#options.framing), 'up'),
      ...(defaultUpstream === undefined ? {} : { fallback: parseAddress(defaultUpstream)! }),
      answering: framing(keysOf(this.#options.framing), 'down'),
      locals: sockets[0]!.locals,
      maxFlows: isNat ? Math.min(maxFlows, NAT_FLOWS) : Math.ceil(maxFlows / workers),
      seed: this.#seed,
      cluster: this.#context.node.cluster,
      cidrs: allow.cidrs,
      ports: parsePortRange(allow.ports)!,
      own: ownAddresses(sockets, machineAddresses()),
    }
  }

  /** Where the relays of other clusters are, kept up to date. */
  #otherClusters({ upstream, relays }: RelaySockets): OtherClusters {
    const { node, log } = this.#context
    const names = otherNames(this.#options, node.cluster)
    const clusters = new OtherClusters(Object.keys(names).map(Number))
    const reaches = reachedFrom((relays.spread[0] ?? upstream).local)
    const finder = new ClusterNames({ names, clusters, log, reaches, ...this.#names })
    this.#ending.signal.addEventListener('abort', () => finder.close())
    return clusters
  }

  #around(): Around {
    const spans = new FlowSpans(this.#context)
    const { recovery: store } = this.#services
    const { node } = this.#context
    const { signal } = this.#ending
    const recovery =
      store &&
      new Recovery({
        store,
        node,
        signal,
        onRecovered: (path, tookMs) => spans.recovered(performance.now(), path, tookMs),
      })
    return { spans, recovery }
  }

  #relay(workers: readonly RelayWorker[], { spans, recovery }: Around): Relay {
    const { sockets } = workers[0]!
    return {
      workers,
      locals: sockets.locals,
      recovery,
      spans,
      ingress: ingressAddresses(sockets.locals, this.#context.node.reachable),
      close: async () => {
        this.#ending.abort()
        await Promise.all(workers.map((worker) => worker.close()))
        for (const { state } of workers) spans.closing(performance.now(), state)
      },
    }
  }
}

/** What is around the workers. */
interface Around {
  readonly spans: FlowSpans
  readonly recovery: Recovery | undefined
}

/** Tells spans and the store of a worker's flows; `hops` knows where their clients send to. */
function listen({ spans, recovery }: Around, hops: HopTable): FlowListener {
  return {
    onFlowEvent(now, decision) {
      const at = hops.placeOf(decision.local)
      if (decision.event === 'opened') spans.opened(now, at.proxy, decision)
      else recovery?.remember(at, decision)
      if (decision.event === 'confirmed') spans.confirmed(now, at.proxy, decision)
    },
    onFlowEnd: (now, flow) => spans.ended(now, hops.proxyOf(flow.local), flow),
  }
}
