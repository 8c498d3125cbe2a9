/**
 * One call by way of a global relay and a cluster's own, both alone in their edges, and a balancer in front that a test
 * tells to hold the client's packets. A relay that is restarted comes back at its addresses, without what it knew.
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Address } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { MemoryStore } from '../../../plugins/memory-recovery/store.ts'
import { Balancer } from '../../peers/balancer.ts'
import { TestClient } from '../../peers/client.ts'
import type { TestEdge } from '../../peers/edge.ts'
import { freePort } from '../../peers/free-port.ts'
import type { Config } from './configs.ts'
import { Duplex, gapLine } from './duplex.ts'
import { given } from './given-store.ts'
import { startRelay } from './global-relay.ts'
import { counter } from './metrics.ts'
import { GIVEN_STORE, transceiverBehind } from './two-relays.ts'

/** An edge that can be started again as it was. */
class Restartable implements AsyncDisposable {
  edge: TestEdge
  readonly #start: () => Promise<TestEdge>

  private constructor(edge: TestEdge, start: () => Promise<TestEdge>) {
    this.edge = edge
    this.#start = start
  }

  static async start(start: () => Promise<TestEdge>): Promise<Restartable> {
    return new Restartable(await start(), start)
  }

  async restart(): Promise<void> {
    await this.edge.close()
    this.edge = await this.#start()
  }

  /** What it dropped for want of a route. */
  noRoute(): Promise<number> {
    return counter(this.edge, 'relay_drops', { reason: 'no_route' })
  }

  /** How many look-ups made a route. */
  hits(): Promise<number> {
    return counter(this.edge, 'relay_look_ups', { result: 'hit' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.edge.close()
  }
}

/** The parts; all are closed at the end of the scope. */
export class RestartedCluster implements AsyncDisposable {
  readonly hop: Balancer
  readonly relay: Restartable
  readonly global: Restartable
  readonly talk: Duplex
  readonly #open: AsyncDisposableStack
  /** Packets of the caller's that were held while there was no relay. */
  #held = 0

  private constructor(
    parts: Pick<RestartedCluster, 'hop' | 'relay' | 'global' | 'talk'>,
    open: AsyncDisposableStack,
  ) {
    this.hop = parts.hop
    this.relay = parts.relay
    this.global = parts.global
    this.talk = parts.talk
    this.#open = open
  }

  /** A call in which both sides talk; `workers` is both relays'. With `hasStore` they share a recovery store. */
  static async open(workers: number, hasStore: boolean): Promise<RestartedCluster> {
    given.store = new MemoryStore(1000, () => performance.now())
    await using open = new AsyncDisposableStack()
    const hop = open.use(await Balancer.open())
    const options = await relayOptions(hop.address)
    const start = (cluster: number, of: Config): Promise<Restartable> =>
      Restartable.start(() => startRelay(cluster, { workers, ...of }, hasStore ? GIVEN_STORE : undefined))
    const relay = open.use(await start(1, options.relay))
    const global = open.use(await start(9, options.global))
    const transceiver = open.use(await transceiverBehind(hop.address))
    hop.leadTo(global.edge.bound[0]!)
    const client = open.use(await TestClient.connect(transceiver.post, { checkEveryMs: 200 }))
    const talk = open.use(await Duplex.begin(client, transceiver))
    return new RestartedCluster({ hop, relay, global, talk }, open.move())
  }

  /**
   * Restarts relays at a moment when nothing is on its way up, and lets no check through from then on. What else the
   * client sends meanwhile is held, and lost.
   */
  async restart(...relays: readonly Restartable[]): Promise<void> {
    const { hop, talk } = this
    hop.holdsChecks = true
    hop.tap = (direction, kind) => {
      if (direction === 'up' && kind === 'rtp') this.#held++
      return direction === 'down'
    }
    await eventually('nothing is on its way', async () => (await talk.received()) === talk.sent - this.#held)
    for (const relay of relays) await relay.restart()
    hop.tap = undefined
  }

  /** The states of the routes of the only flow in the cluster's relay; none when there is no flow. */
  async routes(): Promise<string[]> {
    return ((await this.relay.edge.flows()).flows[0]?.routes ?? []).map(({ state }) => state)
  }

  /** Lets the next check through, and none behind it. */
  letOneCheckThrough(): void {
    let checks = 0
    this.hop.tap = (direction, kind) => direction === 'down' || kind !== 'check' || checks++ === 0
    this.hop.holdsChecks = false
  }

  /**
   * Ends the talk and accounts for each packet that was lost on the way up: held, or dropped for want of a route. Fails
   * when there were others, or when any is lost from now on. Returns how many were dropped.
   */
  async account(t: TestContext, what: string): Promise<number> {
    const dropped = await this.#dropped()
    await this.talk.exchange(20)
    const account = await this.talk.finish()
    t.diagnostic(gapLine(account, what))
    assert.equal(await this.#dropped(), dropped, 'nothing was lost after the recovery')
    assert.equal(account.up.lost, this.#held + dropped)
    return dropped
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync()
  }

  async #dropped(): Promise<number> {
    return (await this.relay.noRoute()) + (await this.global.noRoute())
  }
}

/** The relays' options; every address stays the same. */
async function relayOptions(advertise: Address): Promise<{ relay: Config; global: Config }> {
  const [upstream, internal] = [await freePort(), await freePort()]
  const [front, spread] = [await freePort(), await freePort()]
  return {
    relay: {
      upstream: `127.0.0.1:${upstream}`,
      internal: { listen: `127.0.0.1:${internal}`, cidrs: ['127.0.0.1/32'] },
    },
    global: {
      listen: [{ bind: `127.0.0.1:${front}`, advertise: String(advertise) }],
      clusters: { 1: `127.0.0.1:${internal}` },
      spread: `127.0.0.1:${spread}`,
    },
  }
}
