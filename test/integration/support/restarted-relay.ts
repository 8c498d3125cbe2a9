/** One call by way of a relay that is a process of its own: killed by kill -9 in mid-call, and started again. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, parseAddress } from '../../../core/index.ts'
import { eventually } from '../../../core/testing/check.ts'
import { Balancer } from '../../peers/balancer.ts'
import { TestClient } from '../../peers/client.ts'
import { ROOT, type TestEdge } from '../../peers/edge.ts'
import { type EdgeProcess, startProcess } from '../../peers/edge-processes.ts'
import type { Config } from './configs.ts'
import { type Account, Duplex } from './duplex.ts'
import { relayConfig, transceiverBehind } from './two-relays.ts'

/** The parts; all are closed at the end of the scope. */
export class RestartedRelay implements AsyncDisposable {
  readonly hop: Balancer
  readonly transceiver: TestEdge
  readonly client: TestClient
  readonly talk: Duplex
  /** The one that runs now. */
  relay: EdgeProcess
  readonly #open: AsyncDisposableStack
  /** What the hop had passed on to the relay when that was killed. */
  #passedAtKill = 0

  private constructor(
    parts: Pick<RestartedRelay, 'hop' | 'transceiver' | 'client' | 'talk' | 'relay'>,
    open: AsyncDisposableStack,
  ) {
    this.hop = parts.hop
    this.transceiver = parts.transceiver
    this.client = parts.client
    this.talk = parts.talk
    this.relay = parts.relay
    this.#open = open
  }

  /** A call in which both sides talk. */
  static async open(recovery?: Config): Promise<RestartedRelay> {
    await using open = new AsyncDisposableStack()
    const hop = open.use(await Balancer.open())
    const folder = await mkdtemp(join(tmpdir(), 'earshot-relay-'))
    open.defer(() => rm(folder, { recursive: true }))
    const file = join(folder, 'edge.config.json')
    const config = JSON.stringify(relayConfig(hop.address, recovery))
    await writeFile(file, config.replaceAll('"use":"./', `"use":"${ROOT}/`))
    const relay = await startProcess(file)
    open.defer(() => relay.kill())
    const transceiver = open.use(await transceiverBehind(hop.address))
    hop.leadTo(publicOf(relay))
    const client = open.use(await TestClient.connect(transceiver.post, { checkEveryMs: 1000 }))
    const talk = open.use(await Duplex.begin(client, transceiver))
    return new RestartedRelay({ hop, transceiver, client, talk, relay }, open.move())
  }

  /** Kills the relay at a moment when nothing is on its way, and holds the client's checks from then on. */
  async kill(): Promise<void> {
    const { hop, talk } = this
    hop.holdsChecks = true
    await eventually('nothing is on its way', async () => talk.sent === (await talk.received()))
    this.relay.signal('SIGKILL')
    this.#passedAtKill = hop.passed.up
    await this.relay.exited
  }

  /** Starts it again at the same addresses. */
  async restart(): Promise<void> {
    this.relay = await this.relay.again()
  }

  /** Media dropped by the relay that runs, as no route was known. */
  noRoute(): Promise<number> {
    return this.relay.metric('relay_drops_total', { reason: 'no_route' })
  }

  /** The states of the call's routes in it. */
  async routes(): Promise<string[]> {
    const { flows } = await this.relay.ask<{ flows: { routes: { state: string }[] }[] }>('/relay/flows')
    return (flows[0]?.routes ?? []).map(({ state }) => state)
  }

  /** Waits until it has dropped so many packets for want of a route. */
  dropped(count: number): Promise<void> {
    return eventually(`${count} were dropped`, async () => (await this.noRoute()) >= count, 10_000)
  }

  /**
   * Ends the talk and accounts for each packet that was lost on the way up since the only kill: `dead` came while
   * nobody listened, `early` while no route was known. Fails when there were others, or when any is lost from now on.
   */
  async account(): Promise<Account & { readonly dead: number; readonly early: number }> {
    const early = await this.noRoute()
    await this.talk.exchange(20)
    const account = await this.talk.finish()
    assert.equal(await this.noRoute(), early, 'nothing was lost after the recovery')
    const socket = String(publicOf(this.relay))
    const arrived = await this.relay.metric('relay_socket_datagrams_total', { socket, direction: 'in' })
    const dead = this.hop.passed.up - this.#passedAtKill - arrived
    assert.equal(account.up.lost, dead + early)
    return { ...account, dead, early }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.relay.kill()
    await this.#open.disposeAsync()
  }
}

function publicOf({ addresses }: EdgeProcess): Address {
  const address = parseAddress(addresses.relay)
  assert.ok(address)
  return address
}
