/**
 * Does random things to a relay and holds the relay's rules to what came of each, from a record of its own of what
 * clients asked for and servers answered: transceivers, and the relay of another cluster. It knows nothing of the
 * relay's tables but by `assertWholeTables`.
 */

import assert from 'node:assert/strict'
import { CONFIRMED_MS, FRESH_MS, UNCONFIRMED_MS } from '../../../../../plugins/relay/pure/limits.ts'
import { HEADER_IS_CHANGING } from '../../../../../plugins/relay/pure/records.ts'
import { at, MEDIA, type Outcome, SimulatedRelay, SUCCESS } from '../simulated-relay.ts'
import { carries, type Pair, RuleRecord, waits } from './rule-record.ts'
import {
  ABROAD,
  ALL_UFRAGS,
  CLUSTERS,
  PAYLOADS,
  SERVERS,
  type Step,
  TRANSCEIVERS,
  UFRAGS,
} from './rule-steps.ts'
import { RuleWays } from './rule-ways.ts'

/** What clients send, which keeps no flow alive. */
const FROM_CLIENTS: readonly Step['type'][] = ['check', 'crowd', 'up', 'garbage', 'bad-frame']

/** One relay and what the rules say of it. */
export class RuleKeeper {
  readonly relay: SimulatedRelay
  readonly #ways: RuleWays
  readonly #maxFlows: number
  readonly #record = new RuleRecord()
  #abroad: string = ABROAD[0]

  /** `now` is where time begins. */
  constructor(now: number, maxFlows: number) {
    this.#maxFlows = maxFlows
    this.relay = new SimulatedRelay({ maxFlows, clusters: [...CLUSTERS] })
    this.relay.now = now
    for (const { name, to, cluster } of UFRAGS) this.relay.issue(name, to, cluster)
    this.relay.state.clusters.set(2, at(this.#abroad))
    this.#ways = new RuleWays(this.relay)
  }

  /** Does it, and throws when a rule is broken. */
  do(step: Step): void {
    const before = this.#lives()
    this.#do(step)
    const after = this.#lives()
    if (FROM_CLIENTS.includes(step.type)) {
      for (const [flow, until] of before) {
        const now = after.get(flow)
        assert.ok(now === undefined || now === until, 'what clients send keeps no flow alive')
      }
    }
    if (step.type === 'bad-frame') assert.deepEqual(after, before)
    assert.ok(after.size <= this.#maxFlows)
  }

  /** Every client that has had a success lately can still be heard there, whatever came since. */
  assertNobodyLostTheirCall(): void {
    for (const { client, way, server, pair } of this.#record.pairs()) {
      if (this.relay.now - pair.success >= FRESH_MS) continue
      const to = this.#media(client, way)
      assert.ok(
        to.includes(server),
        `${server} is fresh for ${client} by way ${way}, and media went to ${to}`,
      )
    }
  }

  #do(step: Step): void {
    const { relay } = this
    switch (step.type) {
      case 'check':
        for (let n = 0; n < step.times; n++) this.#check(step)
        break
      case 'crowd':
        for (let n = 0; n < 10; n++) this.#check({ ...step, type: 'check', client: n, times: 1 })
        break
      case 'up':
        this.#up(step)
        break
      case 'garbage':
        this.#ways.up(step.way, Buffer.from(step.bytes), address(step.client))
        break
      case 'bad-frame':
        this.#ways.badFrame(step.hop, step.what, UFRAGS[step.ufrag]!.name, address(step.client))
        break
      case 'answer':
        this.#answer(step)
        break
      case 'down':
        this.#down(step)
        break
      case 'recover':
        this.#recover(step)
        break
      case 'found':
        this.#abroad = ABROAD[step.server]!
        relay.state.clusters.set(2, at(this.#abroad))
        break
      case 'wait':
        relay.now += step.ms
        break
      case 'sweep':
        relay.state.flows.sweep(relay.now, step.limit)
        break
      case 'attach':
        relay.state.memory.words[HEADER_IS_CHANGING] = Number(step.isChanging)
        relay.attach()
    }
  }

  /** Rule 2: a request goes where its USERNAME says and nowhere else. Rule 5: within its bounds. */
  #check({ client, way, ufrag }: Step & { type: 'check' }): void {
    const known = UFRAGS[ufrag % ALL_UFRAGS]
    const home = this.#leadsTo(ufrag % ALL_UFRAGS, way)
    const name = known?.name ?? `forged${ufrag}`
    const wasLive = this.#isLive(client, way, home)
    const outcome = this.#ways.check(way, name, address(client))
    if (typeof outcome === 'string') {
      const bounds = isServer(home) ? ['ufrag_addresses', 'ufrag_rate', 'table_full'] : [home]
      assert.ok([...bounds, 'decode_budget'].includes(outcome), outcome)
      if (outcome === 'table_full') assert.equal(this.relay.state.flows.confirmed, this.#maxFlows)
      return
    }
    assert.deepEqual(outcome, [home])
    this.#record.pair(client, way, home).asked = this.relay.now
    if (!wasLive) this.#record.spend(this.relay.now, name)
  }

  /** The server that a ufrag leads to by a way, or why it leads nowhere. */
  #leadsTo(ufrag: number, way: number): string {
    const known = UFRAGS[ufrag]
    if (known === undefined) return 'unroutable_ufrag'
    if (known.cluster === 1) return known.to
    if (this.#ways.isHop(way)) return 'foreign_from_relay'
    if (known.cluster === 2) return this.#abroad
    return known.cluster === 3 ? 'cluster_unreachable' : 'foreign_cluster'
  }

  /** Rule 2: everything else follows the flow; only STUN reaches a route that waits. */
  #up({ client, way, what }: Step & { type: 'up' }): void {
    const bytes = what === 'success' ? SUCCESS : PAYLOADS[what]
    const outcome = this.#ways.up(way, bytes, address(client))
    if (typeof outcome === 'string') {
      assert.equal(outcome, 'no_route')
      return
    }
    const isStun = what === 'success' || what === 'indication'
    assert.ok(outcome.length <= (isStun ? 4 : 2))
    for (const to of outcome) {
      const pair = this.#record.pair(client, way, to)
      const { now } = this.relay
      assert.ok(carries(pair, now) || (isStun && waits(pair, now)), `${what} went to ${to}`)
    }
  }

  /** Rule 3: a success makes a route live, unless two others carry. */
  #answer({ client, way, server }: Step & { type: 'answer' }): void {
    const { relay } = this
    const home = SERVERS[server]!
    const others = this.#media(client, way).filter((to) => to !== home)
    const outcome = this.#ways.down(way, home, SUCCESS, address(client))
    const { event } = relay.decision
    const pair = this.#record.pair(client, way, home)
    this.#assertHeard(pair, outcome, true)
    if (typeof outcome === 'string') return
    const isCarried = this.#media(client, way).includes(home)
    const waited = relay.now - pair.asked < UNCONFIRMED_MS
    if (waited && others.length < 2) assert.ok(isCarried, 'a success makes it live')
    assert.ok(event === undefined || isCarried)
    assert.ok(event !== 'confirmed' || waited, 'only who was asked lately can become live')
    if (event === 'confirmed' || relay.now - pair.success < FRESH_MS) pair.success = relay.now
  }

  /** Rule 4: down comes only what the flow's own servers send, of a route that waits only its answers. */
  #down({ client, way, server, what }: Step & { type: 'down' }): void {
    const outcome = this.#ways.down(way, SERVERS[server]!, PAYLOADS[what], address(client))
    this.#assertHeard(this.#record.pair(client, way, SERVERS[server]!), outcome, what === 'error')
  }

  #assertHeard(pair: Pair, outcome: Outcome, isAnswer: boolean): void {
    const { now } = this.relay
    if (typeof outcome === 'string') {
      assert.ok(['no_flow', 'not_own_transceiver', 'pending_downstream'].includes(outcome), outcome)
      assert.ok(now - pair.success >= FRESH_MS, 'a live route is heard')
      if (isAnswer) assert.notEqual(outcome, 'pending_downstream')
      return
    }
    assert.ok(carries(pair, now) || (isAnswer && waits(pair, now)), 'heard is who was asked')
  }

  /** What the store knew displaces nothing; a call abroad goes to where its relay is now, and none that came from one. */
  #recover({ client, way, server }: Step & { type: 'recover' }): void {
    const before = this.#media(client, way)
    const { confirmed, unconfirmed } = this.relay.state.flows
    const from = SERVERS[server]!
    const isOurs = TRANSCEIVERS.some((one) => one === from)
    const local = this.#ways.localOf(way)!
    if (!this.relay.recover(from, address(client), isOurs ? 1 : 2, local)) return
    assert.ok(isOurs || !this.#ways.isHop(way), 'what came from a relay goes to none')
    assert.deepEqual(before, [], 'what is recovered displaces nothing')
    assert.ok(this.relay.state.flows.confirmed <= confirmed && this.relay.state.flows.evicted >= 0)
    assert.ok(this.relay.state.flows.unconfirmed <= unconfirmed + 1)
    const to = isOurs ? from : this.#abroad
    this.#record.pair(client, way, to).recovered = this.relay.now
    assert.deepEqual(this.#media(client, way), [to])
  }

  /** Where media of a client goes. */
  #media(client: number, way: number): readonly string[] {
    const outcome = this.#ways.up(way, MEDIA, address(client))
    return typeof outcome === 'string' ? [] : outcome
  }

  #isLive(n: number, way: number, server: string): boolean {
    const { flows } = this.relay.state.flows.page(0, this.#maxFlows)
    const local = this.#ways.localOf(way)
    const flow = flows.find((one) => String(one.client) === address(n) && one.local === local)
    return !!flow?.routes.some((route) => route.state === 'live' && String(route.transceiver) === server)
  }

  /** When each flow ends. */
  #lives(): Map<string, number> {
    const { flows } = this.relay.state.flows.page(0, this.#maxFlows)
    for (const flow of flows) assert.ok(flow.endsInMs(this.relay.now) <= CONFIRMED_MS)
    return new Map(flows.map((flow) => [`${flow.client} ${flow.local} ${flow.openedAt}`, flow.until]))
  }
}

/** The address of client number n. */
function address(n: number): string {
  return `198.51.${n}.7:${40_000 + n}`
}

function isServer(text: string): boolean {
  return SERVERS.some((server) => server === text)
}
