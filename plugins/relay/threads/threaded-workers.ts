/**
 * The relay's workers in threads of their own. The main thread opens their sockets and makes their memory before any of
 * them runs; it hears what their flows went through, asks the store for them, and replaces one that dies.
 */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  type Context,
  clockOffset,
  keysOf,
  type PortableCodec,
  parseAddress,
  type Recovered,
  sharedMemory,
  type ThreadControl,
  type ThreadSocket,
  type ThreadUdp,
} from '../../../core/index.ts'
import { flat } from '../cluster-sockets.ts'
import type { RelayPluginOptions } from '../options.ts'
import { HopTable } from '../pure/hop-table.ts'
import type { OtherClusters } from '../pure/other-clusters.ts'
import { relayMemories, type SharedWords } from '../pure/relay-memory.ts'
import { type RelayOptions, type RelayState, relayState } from '../pure/relay-state.ts'
import type { Recovery } from '../recovery.ts'
import type { FlowListener, RelayWorker, WorkerThread } from '../relay-worker.ts'
import type { RelaySockets } from '../sockets.ts'
import { FlowRing } from './flow-ring.ts'
import type { Command, Report, ThreadData } from './messages.ts'
import { Supervisor } from './supervisor.ts'

/** Events of flows that may wait for the main thread. */
const RING_RECORDS = 4_096

/** The built package has JavaScript only, the clone TypeScript only. */
const ENTRY = new URL(`./worker-thread${extname(import.meta.filename)}`, import.meta.url)

/** What all workers of a relay share. */
export interface ThreadParts {
  readonly udp: ThreadUdp
  readonly codec: PortableCodec
  /** For each worker; its own share of the flows. */
  readonly state: RelayOptions
  /** Each worker's, by its number. */
  readonly memories: readonly SharedWords[]
  readonly options: Pick<RelayPluginOptions, 'segments' | 'coalesceMicroseconds' | 'framing' | 'internal'>
  /** Kept up to date; every worker hears of each change. */
  readonly clusters: OtherClusters
  readonly log: Context['log']
  readonly recovery: Recovery | undefined
  listenTo(hops: HopTable): FlowListener
}

/** The memories of so many workers. They are there before the first one starts, since each reads the others'. */
export function threadMemories(workers: number, { maxFlows, seed }: RelayOptions): SharedWords[] {
  return relayMemories(workers, maxFlows, seed, sharedMemory)
}

/** Starts a worker on its sockets, which it closes at its end; `cpu` is the processor it stays on. */
export async function threadedWorker(
  parts: ThreadParts,
  sockets: RelaySockets<ThreadSocket>,
  number: number,
  cpu: number | undefined,
): Promise<RelayWorker> {
  const worker = new ThreadedWorker(parts, sockets, number, cpu)
  await worker.start()
  return worker
}

class ThreadedWorker implements RelayWorker {
  readonly state: RelayState
  readonly sockets: RelaySockets<ThreadSocket>
  readonly thread: WorkerThread
  readonly #parts: ThreadParts
  readonly #control: ThreadControl
  readonly #supervisor: Supervisor
  readonly #ring: FlowRing
  readonly #listener: FlowListener
  readonly #asked = new Map<number, (isUsed: boolean) => void>()
  readonly #stopListening: readonly (() => void)[]

  constructor(
    parts: ThreadParts,
    sockets: RelaySockets<ThreadSocket>,
    number: number,
    cpu: number | undefined,
  ) {
    this.#parts = parts
    this.sockets = sockets
    const memory = parts.memories[number]!
    const ring = FlowRing.memory(RING_RECORDS)
    const hops = HopTable.memory()
    this.state = relayState({ ...parts.state, hops: new HopTable(sockets.locals, hops) }, memory)
    this.#listener = parts.listenTo(this.state.hops)
    this.#ring = new FlowRing(ring)
    this.#control = parts.udp.control()
    const name = `relay worker ${number}`
    const data = dataOf(parts, sockets, this.#control, { memory, hops, ring }, cpu)
    this.#supervisor = new Supervisor(name, this.#control, parts.log, {
      spawn: () => {
        const codec = { module: parts.codec.module, data: parts.codec.data }
        const clusters = parts.clusters
          .all()
          .map(([cluster, relay]) => ({ cluster, relay: relay?.toString() }))
        return new Worker(ENTRY, { name, workerData: { ...data, codec, clusters } satisfies ThreadData })
      },
      onReport: (report) => this.#hear(report),
      onGone: () => this.#gone(),
    })
    this.thread = this.#figures()
    const { codec, clusters } = parts
    const onCodec = codec.onChange?.(() => this.#say({ type: 'codec', data: codec.data }))
    const onCluster = clusters.onChange((cluster, relay) =>
      this.#say({ type: 'cluster', cluster, relay: relay.toString() }),
    )
    this.#stopListening = onCodec ? [onCodec, onCluster] : [onCluster]
  }

  async start(): Promise<void> {
    await this.#supervisor.start().catch((error: unknown) => {
      for (const stop of this.#stopListening) stop()
      this.#control.close()
      throw error
    })
  }

  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop()
    await this.#supervisor.close()
    this.#read()
    await this.sockets.close()
    this.#control.close()
  }

  #figures(): WorkerThread {
    const supervisor = this.#supervisor
    const { words } = this.#control
    const ring = this.#ring
    return {
      get batches() {
        return words.batches
      },
      get busyMs() {
        return words.busyMs
      },
      get restarts() {
        return supervisor.restarts
      },
      lost: (kind) => ring.lost(kind),
      kill: () => supervisor.kill(),
    }
  }

  #say(command: Command): void {
    this.#supervisor.post(command)
  }

  #hear(report: Report): void {
    if (report.type === 'events') this.#read()
    else if (report.type === 'unknown') void this.#lookUp(report.id, report.local, report.client)
    else if (report.type === 'used') {
      this.#asked.get(report.id)?.(report.isUsed)
      this.#asked.delete(report.id)
    }
  }

  #read(): void {
    this.#ring.read({
      onEvent: (now, decision) => this.#listener.onFlowEvent(now, decision),
      onEnded: (now, flow) => this.#listener.onFlowEnd(now, flow),
    })
  }

  async #lookUp(id: number, local: number, text: string): Promise<void> {
    const client = parseAddress(text)
    if (client === undefined) return
    const { restarts } = this.#supervisor
    // The numbers that a thread asks by are its successor's too, for other clients.
    const isGone = (): boolean => this.#supervisor.restarts !== restarts
    let isAnswered = false
    const pauseMs = await this.#parts.recovery?.lookUp(this.state.hops.placeOf(local), client, (found) => {
      if (isGone()) return false
      const isUsed = this.#use(id, found)
      isAnswered = true
      return isUsed
    })
    if (!isAnswered && !isGone()) this.#say({ type: 'found', id, found: undefined, pauseMs: pauseMs ?? 0 })
  }

  #use(id: number, { cluster, transceiver, session }: Recovered): Promise<boolean> {
    const found = { cluster, transceiver: transceiver.toString(), session: session.slice() }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#asked.set(id, resolve)
    this.#say({ type: 'found', id, found, pauseMs: 0 })
    return promise
  }

  /** What the thread was asked is not answered any more. */
  #gone(): void {
    this.#read()
    for (const resolve of this.#asked.values()) resolve(false)
    this.#asked.clear()
  }
}

/** What outlives a worker's threads. */
interface Memories {
  readonly memory: SharedWords
  readonly hops: SharedArrayBuffer
  readonly ring: SharedArrayBuffer
}

function dataOf(
  { state, memories, options, recovery }: ThreadParts,
  { publics, upstream, relays, locals }: RelaySockets<ThreadSocket>,
  control: ThreadControl,
  { memory, hops, ring }: Memories,
  cpu: number | undefined,
): Omit<ThreadData, 'codec' | 'clusters'> {
  return {
    loop: {
      sockets: [
        ...publics.map(({ shared }) => ({ ...shared, segments: false })),
        ...[upstream, ...flat(relays)].map(({ shared }) => ({ ...shared, segments: options.segments })),
      ],
      control: control.shared,
      coalesceMicroseconds: options.coalesceMicroseconds,
      cpu,
      clockOffset: clockOffset(),
    },
    memory,
    others: memories.filter((other) => other !== memory),
    ring,
    frameKeys: keysOf(options.framing),
    locals: locals.map(String),
    own: state.own.map(String),
    cluster: state.cluster,
    cidrs: state.cidrs,
    ports: state.ports,
    maxFlows: state.maxFlows,
    seed: state.seed,
    hasStore: recovery !== undefined,
    relays: { trusted: options.internal?.cidrs, spread: relays.spread.length, hops },
  }
}
