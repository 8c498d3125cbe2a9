/** One call by way of a relay that is a process of its own, killed in mid-call and started again. */

import assert from 'node:assert/strict'
import { eventually } from '../../../core/testing/check.ts'
import { Balancer } from '../../peers/balancer.ts'
import { TestClient } from '../../peers/client.ts'
import type { TestEdge } from '../../peers/edge.ts'
import { RelayProcess } from '../../peers/relay-process.ts'
import type { Config } from './configs.ts'
import { type Account, Duplex } from './duplex.ts'
import { relayConfig, transceiverBehind } from './two-relays.ts'

/** The parts; all are closed at the end of the scope. */
export class RestartedRelay implements AsyncDisposable {
  readonly hop: Balancer
  readonly relay: RelayProcess
  readonly transceiver: TestEdge
  readonly client: TestClient
  readonly talk: Duplex
  readonly #open: AsyncDisposableStack
  /** What the hop had passed on to the relay when that was killed. */
  #passedAtKill = 0

  private constructor(
    parts: Pick<RestartedRelay, 'hop' | 'relay' | 'transceiver' | 'client' | 'talk'>,
    open: AsyncDisposableStack,
  ) {
    this.hop = parts.hop
    this.relay = parts.relay
    this.transceiver = parts.transceiver
    this.client = parts.client
    this.talk = parts.talk
    this.#open = open
  }

  /** A call in which both sides talk. */
  static async open(recovery?: Config): Promise<RestartedRelay> {
    await using open = new AsyncDisposableStack()
    const hop = open.use(await Balancer.open())
    const relay = open.use(await RelayProcess.start(relayConfig(hop.address, recovery)))
    const transceiver = open.use(await transceiverBehind(hop.address))
    hop.leadTo(relay.address)
    const client = open.use(await TestClient.connect(transceiver.post, { checkEveryMs: 1000 }))
    const talk = open.use(await Duplex.begin(client, transceiver))
    return new RestartedRelay({ hop, relay, transceiver, client, talk }, open.move())
  }

  /** Kills the relay at a moment when nothing is on its way, and holds the client's checks from then on. */
  async kill(): Promise<void> {
    const { hop, talk } = this
    hop.holdsChecks = true
    await eventually('nothing is on its way', async () => {
      const received = await talk.received()
      return received === talk.sent
    })
    this.relay.kill()
    this.#passedAtKill = hop.passed.up
  }

  /** Waits until the relay has dropped so many packets for want of a route. */
  dropped(count: number): Promise<void> {
    return eventually(`${count} were dropped`, async () => (await this.relay.noRoute()) >= count, 10_000)
  }

  /**
   * Ends the talk and accounts for each packet that was lost on the way up since the only kill: `dead` came while
   * nobody listened, `early` while no route was known. Fails when there were others, or when any is lost from now on.
   */
  async account(): Promise<Account & { readonly dead: number; readonly early: number }> {
    const { relay, talk } = this
    const early = await relay.noRoute()
    await talk.exchange(20)
    const account = await talk.finish()
    assert.equal(await relay.noRoute(), early, 'nothing was lost after the recovery')
    const dead = await this.#neverArrived()
    assert.equal(account.up.lost, dead + early)
    return { ...account, dead, early }
  }

  /** What the hop has passed on since the kill and no relay has received; read while nothing is on its way. */
  async #neverArrived(): Promise<number> {
    const { hop, relay } = this
    for (;;) {
      const passed = hop.passed.up
      const arrived = await relay.arrived()
      // Checks and reports go on: what came between the two would be counted on one side alone.
      if ((await relay.arrived()) === arrived && hop.passed.up === passed) {
        return passed - this.#passedAtKill - arrived
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open.disposeAsync()
  }
}
