/** Two clusters and a global relay in one process; all relays share one list of clusters. */

import { type Address, parseAddress } from '../../../core/index.ts'
import { startEdge, type TestEdge } from '../../peers/edge.ts'
import { freePort } from '../../peers/free-port.ts'
import type { Config } from './configs.ts'
import { SHARED_CODEC } from './two-relays.ts'

const HTTP = { http: { listen: '127.0.0.1:0' }, admin: { listen: '127.0.0.1:0' } }
const codec = { use: './plugins/routing-codec/sealed/index.ts', options: SHARED_CODEC }

/** Cluster number → host:port of its relay’s internal socket. */
export type Clusters = Readonly<Record<string, string>>

/** What there is to set. */
export interface GlobalRelayOptions {
  readonly framing?: unknown
  /** Threads of each relay. Default: the relay's own. */
  readonly workers?: number | 'auto'
  /** Of both clusters. Default: loopback. */
  readonly bridge?: Config
}

/** The relay's part of a config. */
function relayPlugin(options: Config): Config {
  return {
    use: './plugins/relay/index.ts',
    options: { listen: ['127.0.0.1:0'], allow: { ports: '1024-65535' }, ...options },
  }
}

/** A relay alone, in a cluster. */
export function startRelay(cluster: number, options: Config, recovery?: Config): Promise<TestEdge> {
  const plugins = { codec, relay: relayPlugin(options), ...(recovery ? { recovery } : {}) }
  return startEdge({ config: { node: { cluster }, ...HTTP, plugins } })
}

/** A relay, a transceiver and a bridge in one process. */
function startCluster(
  cluster: number,
  clusters: Clusters,
  {
    framing = 'spp',
    workers = 'auto',
    bridge = { use: './plugins/inference-bridge/loopback/index.ts' },
  }: GlobalRelayOptions,
): Promise<TestEdge> {
  const internal = { listen: clusters[cluster]!, cidrs: ['127.0.0.1/32'] }
  const relay = relayPlugin({ framing, workers, clusters, internal })
  const options = { listen: '127.0.0.1:0', framing }
  const transceiver = { use: './plugins/transceiver/index.ts', options }
  return startEdge({ config: { node: { cluster }, ...HTTP, plugins: { codec, relay, bridge, transceiver } } })
}

/** The parts; all are closed at the end of the scope. */
export interface GlobalRelay extends AsyncDisposable {
  readonly one: TestEdge
  readonly two: TestEdge
  readonly global: TestEdge
  /** Where clients of the global relay send to. */
  readonly via: Address
  readonly clusters: Clusters
  /** The ports of the clusters' internal sockets. */
  readonly ports: readonly [number, number]
  /** Starts the global relay again, at its address; close it first. */
  restart(): Promise<TestEdge>
}

/** Starts all three. */
export async function startAll(options: GlobalRelayOptions = {}): Promise<GlobalRelay> {
  const { framing = 'spp', workers = 'auto' } = options
  const ports = [await freePort(), await freePort()] as const
  const via = parseAddress(`127.0.0.1:${await freePort()}`)!
  const clusters: Clusters = { 1: `127.0.0.1:${ports[0]}`, 2: `localhost:${ports[1]}` }
  const own: Clusters = { ...clusters, 2: `127.0.0.1:${ports[1]}` }
  await using open = new AsyncDisposableStack()
  const one = open.use(await startCluster(1, own, options))
  const two = open.use(await startCluster(2, own, options))
  const restart = (): Promise<TestEdge> =>
    startRelay(9, { listen: [String(via)], framing, workers, clusters })
  const global = open.use(await restart())
  const opened = open.move()
  return {
    one,
    two,
    global,
    via,
    clusters,
    ports,
    restart,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
