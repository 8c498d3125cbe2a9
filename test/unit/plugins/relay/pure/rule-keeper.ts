/**
 * Does random things to a relay and holds the relay's rules to what came of each, from a record of its own of what
 * clients asked for and transceivers answered. It knows nothing of the relay's tables but by `assertWholeTables`.
 */

import assert from 'node:assert/strict'
import {
  CONFIRMED_MS,
  FRESH_MS,
  UNCONFIRMED_MS,
  UNCONFIRMED_PER_SECOND,
} from '../../../../../plugins/relay/pure/limits.ts'
import { LOCALS, MEDIA, type Outcome, SimulatedRelay, SUCCESS } from '../simulated-relay.ts'
import { GOOD, PAYLOADS, SOCKETS, type Step, TRANSCEIVERS } from './rule-steps.ts'

/** What one client at one socket and one transceiver have had to do with each other. */
interface Pair {
  /** When a request was last forwarded, when a success last made or kept the route live, when it was recovered. */
  asked: number
  success: number
  recovered: number
}

const NEVER = Number.NEGATIVE_INFINITY

/** One relay and what the rules say of it. */
export class RuleKeeper {
  readonly relay: SimulatedRelay
  readonly #maxFlows: number
  readonly #pairs = new Map<string, Pair>()
  /** By ufrag, when unconfirmed packets of it went out. */
  readonly #spent = new Map<string, number[]>()

  /** `now` is where time begins. */
  constructor(now: number, maxFlows: number) {
    this.#maxFlows = maxFlows
    this.relay = new SimulatedRelay({ maxFlows })
    this.relay.now = now
    for (let n = 0; n < GOOD; n++) this.relay.issue(`good${n}`, TRANSCEIVERS[n % TRANSCEIVERS.length]!)
  }

  /** Does it, and throws when a rule is broken. */
  do(step: Step): void {
    const before = this.#lives()
    this.#do(step)
    const after = this.#lives()
    if (step.type === 'check' || step.type === 'crowd' || step.type === 'up' || step.type === 'garbage') {
      for (const [flow, until] of before) {
        const now = after.get(flow)
        assert.ok(now === undefined || now === until, 'what clients send keeps no flow alive')
      }
    }
    assert.ok(after.size <= this.#maxFlows)
  }

  /** Every client that has had a success lately can still be heard there, whatever came since. */
  assertNobodyLostTheirCall(): void {
    for (const [key, { success }] of this.#pairs) {
      if (this.relay.now - success >= FRESH_MS) continue
      const [client, socket, transceiver] = key.split(' ')
      const to = this.relay.up(MEDIA, client, Number(socket))
      assert.ok(to.includes(transceiver!), `${key} is fresh, and media went to ${to}`)
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
        relay.up(Buffer.from(step.bytes), client(step.client), socket(step.socket))
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
      case 'wait':
        relay.now += step.ms
        break
      case 'sweep':
        relay.state.flows.sweep(relay.now, step.limit)
        break
      case 'attach':
        relay.attach()
    }
  }

  /** Rule 2: a request goes where its USERNAME says and nowhere else. Rule 5: within its bounds. */
  #check(step: Step & { type: 'check' }): void {
    const { relay } = this
    const isGood = step.ufrag < GOOD
    const ufrag = isGood ? `good${step.ufrag}` : `forged${step.ufrag}`
    const home = TRANSCEIVERS[step.ufrag % TRANSCEIVERS.length]!
    const wasLive = this.#isLive(step.client, step.socket, home)
    const outcome = relay.check(ufrag, client(step.client), socket(step.socket))
    if (!isGood) {
      assert.ok(outcome === 'unroutable_ufrag' || outcome === 'decode_budget', String(outcome))
      return
    }
    if (typeof outcome === 'string') {
      assert.ok(['ufrag_addresses', 'ufrag_rate', 'table_full', 'decode_budget'].includes(outcome), outcome)
      if (outcome === 'table_full') assert.equal(relay.state.flows.confirmed, this.#maxFlows)
      return
    }
    assert.deepEqual(outcome, [home])
    const pair = this.#pair(step.client, step.socket, home)
    pair.asked = relay.now
    if (!wasLive) this.#spend(ufrag)
  }

  /** Rule 2: everything else follows the flow; only STUN reaches a route that waits. */
  #up({ client: n, socket: s, what }: Step & { type: 'up' }): void {
    const bytes = what === 'success' ? SUCCESS : PAYLOADS[what]
    const outcome = this.relay.up(bytes, client(n), socket(s))
    if (typeof outcome === 'string') {
      assert.equal(outcome, 'no_route')
      return
    }
    const isStun = what === 'success' || what === 'indication'
    assert.ok(outcome.length <= (isStun ? 4 : 2))
    for (const to of outcome) {
      const pair = this.#pair(n, s, to)
      assert.ok(this.#carries(pair) || (isStun && this.#waits(pair)), `${what} went to ${to}`)
    }
  }

  /** Rule 3: a success makes a route live, unless two others carry. */
  #answer({ client: n, socket: s, transceiver: t }: Step & { type: 'answer' }): void {
    const { relay } = this
    const home = TRANSCEIVERS[t]!
    const others = mediaOf(relay.up(MEDIA, client(n), socket(s))).filter((to) => to !== home)
    const outcome = relay.down(home, SUCCESS, client(n), LOCALS[socket(s)]!)
    const { event } = relay.decision
    const pair = this.#pair(n, s, home)
    this.#assertHeard(pair, outcome, true)
    if (typeof outcome === 'string') return
    const carries = mediaOf(relay.up(MEDIA, client(n), socket(s))).includes(home)
    const waited = relay.now - pair.asked < UNCONFIRMED_MS
    if (waited && others.length < 2) assert.ok(carries, 'a success makes it live')
    assert.ok(event === undefined || carries)
    assert.ok(event !== 'confirmed' || waited, 'only who was asked lately can become live')
    if (event === 'confirmed' || relay.now - pair.success < FRESH_MS) pair.success = relay.now
  }

  /** Rule 4: down comes only what the flow's own transceivers send, of a route that waits only its answers. */
  #down({ client: n, socket: s, transceiver: t, what }: Step & { type: 'down' }): void {
    const outcome = this.relay.down(TRANSCEIVERS[t]!, PAYLOADS[what], client(n), LOCALS[socket(s)]!)
    this.#assertHeard(this.#pair(n, s, TRANSCEIVERS[t]!), outcome, what === 'error')
  }

  #assertHeard(pair: Pair, outcome: Outcome, isAnswer: boolean): void {
    if (typeof outcome === 'string') {
      assert.ok(['no_flow', 'not_own_transceiver', 'pending_downstream'].includes(outcome), outcome)
      const isFresh = this.relay.now - pair.success < FRESH_MS
      assert.ok(!isFresh, 'a live route is heard')
      if (isAnswer) assert.notEqual(outcome, 'pending_downstream')
      return
    }
    assert.ok(this.#carries(pair) || (isAnswer && this.#waits(pair)), 'heard is who was asked')
  }

  #recover({ client: n, transceiver: t }: Step & { type: 'recover' }): void {
    const before = mediaOf(this.relay.up(MEDIA, client(n), 0))
    const { confirmed, unconfirmed } = this.relay.state.flows
    if (!this.relay.recover(TRANSCEIVERS[t]!, client(n))) return
    assert.deepEqual(before, [], 'what is recovered displaces nothing')
    assert.ok(this.relay.state.flows.confirmed <= confirmed && this.relay.state.flows.evicted >= 0)
    assert.ok(this.relay.state.flows.unconfirmed <= unconfirmed + 1)
    this.#pair(n, 0, TRANSCEIVERS[t]!).recovered = this.relay.now
  }

  /** It has had a success, or was recovered, so lately that it may still carry. */
  #carries({ success, recovered }: Pair): boolean {
    // A route lives as long as its flow, and that as long as any other of its routes has successes.
    return success > NEVER || this.relay.now - recovered < UNCONFIRMED_MS
  }

  #waits({ asked }: Pair): boolean {
    return this.relay.now - asked < UNCONFIRMED_MS + 1
  }

  #isLive(n: number, s: number, transceiver: string): boolean {
    const { flows } = this.relay.state.flows.page(0, this.#maxFlows)
    const flow = flows.find(({ client: one, local }) => String(one) === client(n) && local === socket(s))
    return !!flow?.routes.some((route) => route.state === 'live' && String(route.transceiver) === transceiver)
  }

  #pair(n: number, s: number, transceiver: string): Pair {
    const key = `${client(n)} ${socket(s)} ${transceiver}`
    const pair = this.#pairs.get(key) ?? { asked: NEVER, success: NEVER, recovered: NEVER }
    this.#pairs.set(key, pair)
    return pair
  }

  #spend(ufrag: string): void {
    const times = this.#spent.get(ufrag) ?? []
    times.push(this.relay.now)
    this.#spent.set(ufrag, times)
    // Windows of a second begin with a packet, so two of them may touch.
    assert.ok(this.#spentLately(ufrag) <= 2 * UNCONFIRMED_PER_SECOND, 'bounded unconfirmed packets')
  }

  #spentLately(ufrag: string): number {
    return (this.#spent.get(ufrag) ?? []).filter((at) => this.relay.now - at < 1_000).length
  }

  /** When each flow ends. */
  #lives(): Map<string, number> {
    const { flows } = this.relay.state.flows.page(0, this.#maxFlows)
    for (const flow of flows) assert.ok(flow.endsInMs(this.relay.now) <= CONFIRMED_MS)
    return new Map(flows.map((flow) => [`${flow.client} ${flow.local} ${flow.openedAt}`, flow.until]))
  }
}

/** The address of client number n. */
function client(n: number): string {
  return `198.51.${n}.7:${40_000 + n}`
}

function socket(n: number): number {
  return SOCKETS[n % SOCKETS.length]!
}

function mediaOf(outcome: Outcome): string[] {
  return typeof outcome === 'string' ? [] : outcome
}
