/** One call by way of a balancer with two relays behind it, a transceiver, and a recovery store of the test's making. */

import type { Address, RecoveryStore } from '../../../core/index.ts'
import { MemoryStore } from '../../../plugins/memory-recovery/store.ts'
import { Balancer } from '../../peers/balancer.ts'
import { TestClient } from '../../peers/client.ts'
import type { ClientOptions } from '../../peers/client-options.ts'
import { startEdge, type TestEdge } from '../../peers/edge.ts'
import { type Config, transceiverConfig } from './configs.ts'
import { given } from './given-store.ts'

/** The key that relays and transceivers of these tests share. */
export const SHARED_CODEC = { keys: [{ id: 1, key: '00112233445566778899aabbccddeeff' }] }

/** A bridge that talks without listening. */
export const TALKING = { use: './test/integration/support/talking-bridge.ts' }

/** The store that a test has put in place, see given-store.ts. */
export const GIVEN_STORE = { use: './test/integration/support/given-store.ts' }

/**
 * A relay that clients know by `advertise`, on ports that the environment names; with `recovery` undefined it has no
 * store.
 */
export function relayConfig(advertise: Address, recovery?: Config): Config {
  return {
    node: { cluster: 1 },
    http: { listen: '127.0.0.1:${EARSHOT_HTTP_PORT}' },
    admin: { listen: '127.0.0.1:${EARSHOT_ADMIN_PORT}' },
    plugins: {
      codec: { use: './plugins/routing-codec/sealed/index.ts', options: SHARED_CODEC },
      ...(recovery ? { recovery } : {}),
      relay: {
        use: './plugins/relay/index.ts',
        options: {
          listen: [{ bind: '127.0.0.1:${EARSHOT_RELAY_PORT}', advertise: String(advertise) }],
          upstream: '127.0.0.1:${EARSHOT_UPSTREAM_PORT:-0}',
          allow: { cidrs: ['127.0.0.0/8'], ports: '1024-65535' },
        },
      },
    },
  }
}

/** A transceiver whose answers name `advertise`. */
export function transceiverBehind(advertise: Address): Promise<TestEdge> {
  const node = { advertise: [String(advertise)] }
  return startEdge({ config: transceiverConfig({ node, codec: SHARED_CODEC, bridge: TALKING }) })
}

/** What there is to set. */
export interface TwoRelaysOptions {
  /** The recovery store's plugin; `false` for relays without one. Default: `store`, in this process. */
  readonly recovery?: Config | false
  readonly store?: RecoveryStore
  readonly client?: ClientOptions
}

/** The parts; all are closed at the end of the scope. */
export class TwoRelays implements AsyncDisposable {
  readonly hop: Balancer
  readonly a: TestEdge
  readonly b: TestEdge
  readonly transceiver: TestEdge
  readonly client: TestClient
  readonly #open: AsyncDisposableStack

  private constructor(
    parts: Pick<TwoRelays, 'hop' | 'a' | 'b' | 'transceiver' | 'client'>,
    open: AsyncDisposableStack,
  ) {
    this.hop = parts.hop
    this.a = parts.a
    this.b = parts.b
    this.transceiver = parts.transceiver
    this.client = parts.client
    this.#open = open
  }

  /** A call that is up, by way of relay a. */
  static async open(options: TwoRelaysOptions = {}): Promise<TwoRelays> {
    given.store = options.store ?? new MemoryStore(1000, () => performance.now())
    const recovery = options.recovery === false ? undefined : (options.recovery ?? GIVEN_STORE)
    await using open = new AsyncDisposableStack()
    const hop = open.use(await Balancer.open())
    const a = open.use(await startEdge({ config: relayConfig(hop.address, recovery) }))
    const b = open.use(await startEdge({ config: relayConfig(hop.address, recovery) }))
    const transceiver = open.use(await transceiverBehind(hop.address))
    hop.leadTo(a.bound[0]!)
    const client = await TestClient.connect(transceiver.post, { checkEveryMs: 1000, ...options.client })
    open.use(client)
    return new TwoRelays({ hop, a, b, transceiver, client }, open.move())
  }

  /** From now on the client's packets go to `relay`. */
  rehash(relay: TestEdge): void {
    this.hop.leadTo(relay.bound[0]!)
  }

  /** The states of the routes of the only flow in a relay; none when there is no flow. */
  async routesOf(relay: TestEdge): Promise<string[]> {
    return ((await relay.flows()).flows[0]?.routes ?? []).map(({ state }) => state)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync()
  }
}
