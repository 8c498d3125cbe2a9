/** Whatever happens to the fleet, nobody's packet counts as another's, and every client that is let alone is served. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Address } from '../../core/index.ts'
import { bindingRequest } from '../stun-bytes.ts'
import { at } from '../unit/plugins/relay/simulated-relay.ts'
import { Fleet } from './fleet.ts'
import type { FleetClient } from './fleet-client.ts'
import { writeMedia } from './fleet-media.ts'
import { frame } from './fleet-network.ts'
import type { FleetRelay } from './fleet-relay.ts'
import { BAG, type Step } from './fleet-steps.ts'
import type { StoreMode } from './fleet-store.ts'

/** FLEET_STEPS and FLEET_SEED take longer, or others. */
const STEPS = Number(process.env.FLEET_STEPS ?? 100_000)
const SEED = Number(process.env.FLEET_SEED ?? 4)

const CLIENTS = 10
const STRANGER = at('192.0.2.66:6666')
const ADDRESSES: readonly Address[] = Array.from({ length: 24 }, (_, n) =>
  at(`198.51.100.${1 + (n >> 2)}:${40_000 + (n & 3)}`),
)
/**
 * A client is served again this long after something happened to it: 13 s, when its address has two routes of earlier
 * clients that are fresh, then a check, its path check, and a second of media.
 */
const BOUND_MS = 17_000
/** Served means: heard within this. Time goes on by no more at once than half of it. */
const FRESH_MS = 400
/** A ufrag is good for eight addresses at a time, and a flow lives 30 s. */
const MOVES_MS = 6000

class Run {
  readonly fleet = new Fleet(SEED)
  readonly #movedAt = new Map<FleetClient, number>()

  constructor() {
    for (let n = 0; n < CLIENTS; n++) this.fleet.call(ADDRESSES[n]!)
  }

  step(step: Step): void {
    const { random } = this.fleet
    const client = random.pick([...this.fleet.clients])
    this[step](client)
    this.fleet.settle()
  }

  wait(): void {
    const { fleet } = this
    fleet.now += 20 + fleet.random.below(FRESH_MS / 2 - 20)
    for (const home of fleet.transceivers) home.tick()
    for (const client of fleet.clients) {
      client.tick()
      client.talk()
      client.session.sendMedia()
    }
    fleet.settle()
    if (fleet.random.chance(0.05)) for (const relay of fleet.relays) relay.sweep()
  }

  /** To another network, and the client knows. */
  move(client: FleetClient): void {
    this.#moveTo(client, this.#free(), true)
  }

  /** A NAT gives it another port, and it does not know. */
  rebind(client: FleetClient): void {
    this.#moveTo(client, this.#free(), false)
  }

  /** It gets an address that another client has just left. */
  swap(client: FleetClient): void {
    const other = this.fleet.random.pick([...this.fleet.clients])
    if (other === client || !this.#mayMove(other) || !this.#mayMove(client)) return
    const left = other.address
    this.#moveTo(other, this.#free(), true)
    this.#moveTo(client, left, true)
  }

  rehash(client: FleetClient): void {
    client.front.rehash(client.address)
    this.#disturb(client)
  }

  /** The name of a cluster leads to one of its relays. Calls go on all the while, unless the others are gone. */
  rename(): void {
    const { random, fronts, clients } = this.fleet
    const { relays } = random.pick(fronts)
    const found = random.pick(relays)
    this.fleet.find(found)
    if (random.chance(0.5)) return
    for (const gone of relays.filter((relay) => relay !== found)) {
      gone.isCutOff = true
      for (const client of clients) if (this.fleet.goesBy(client, gone)) this.#disturb(client)
    }
  }

  restartRelay(): void {
    const { fleet } = this
    const relay = fleet.random.pick(fleet.relays)
    relay.restart()
    for (const client of fleet.clients) if (fleet.goesBy(client, relay)) this.#disturb(client)
  }

  store(): void {
    this.fleet.store.mode = this.fleet.random.pick<StoreMode>(['up', 'up', 'down', 'stale'])
  }

  /** Hangs up and calls again from the same address. */
  redial(client: FleetClient): void {
    this.fleet.hangUp(client)
    this.#movedAt.delete(client)
    this.fleet.call(client.address)
  }

  restartIce(client: FleetClient): void {
    this.fleet.restartIce(client)
  }

  garbage(): void {
    const { random, fronts } = this.fleet
    this.fleet.send(random.pick(ADDRESSES), random.pick(fronts), random.bytes(1 + random.below(60)))
  }

  /** Media under another call's name, from a client's address. */
  spoofMedia(client: FleetClient): void {
    this.fleet.send(client.address, client.front, writeMedia(1_000_000, this.fleet.random.below(1000)))
  }

  /** A ufrag that nobody made, from a client's address. */
  spoofCheck(client: FleetClient): void {
    this.fleet.send(client.address, client.front, bindingRequest(`u${this.fleet.random.below(1e9)}:x`))
  }

  /** A captured check, sent again from one address elsewhere. */
  replay(client: FleetClient): void {
    if (client.captured) this.fleet.send(STRANGER, client.front, client.captured)
  }

  /** Somebody with a call of their own sends its valid check from another client's address. */
  joinFromThere(client: FleetClient): void {
    const bad = [...this.fleet.clients].at(-1)!
    if (bad !== client && bad.captured) this.fleet.send(client.address, client.front, bad.captured)
  }

  poison(client: FleetClient): void {
    const { random, transceivers, store } = this.fleet
    const transceiver = random.pick([...transceivers.map(({ address }) => address), at('192.0.2.9:3479')])
    const value = { cluster: random.pick([1, 2, 9]), transceiver, session: Buffer.alloc(8, 9) }
    store.poison(client.front.address, client.address, value)
  }

  /** A stranger frames a client's check for a relay. */
  strangeFrame(client: FleetClient): void {
    this.#frame(STRANGER, this.fleet.random.pick(this.fleet.relays), client)
  }

  /** A relay that is trusted sends a client's check to a cluster that the call is not in. */
  crossFrame(client: FleetClient): void {
    const { random, relays } = this.fleet
    const others = relays.filter(({ place }) => place.cluster !== client.transceiver.cluster)
    this.#frame(random.pick(random.pick(relays).spread), random.pick(others), client)
  }

  /** Every client that was let alone for long enough is heard, and hears. */
  assertServed(): void {
    const { now } = this.fleet
    for (const client of this.fleet.clients) {
      if (now - client.undisturbedSince < BOUND_MS) continue
      const [up, down] = [now - client.session.heardAt, now - client.heardAt]
      assert.ok(
        up < FRESH_MS && down < FRESH_MS,
        `call ${client.number} at ${client.address}, let alone for ${now - client.undisturbedSince} ms, was heard ${up} ms ago and heard something ${down} ms ago`,
      )
    }
  }

  /** A frame that must not lead to anything. */
  #frame(from: Address, to: FleetRelay, { captured, address, front }: FleetClient): void {
    if (!captured) return
    const { network } = this.fleet
    const before = network.sent
    network.send('across', from, to.internal, frame(address, front.address, captured))
    this.fleet.settle()
    assert.equal(network.sent, before + 1, 'it goes no further')
  }

  #moveTo(client: FleetClient, address: Address, knows: boolean): void {
    if (!this.#mayMove(client)) return
    client.move(address, knows)
    this.#movedAt.set(client, this.fleet.now)
    this.#disturb(client)
  }

  #mayMove(client: FleetClient): boolean {
    return this.fleet.now - (this.#movedAt.get(client) ?? Number.NEGATIVE_INFINITY) >= MOVES_MS
  }

  #free(): Address {
    return this.fleet.random.pick(ADDRESSES.filter((address) => !this.fleet.at(address)))
  }

  #disturb(client: FleetClient): void {
    client.undisturbedSince = this.fleet.now
  }
}

it(`a fleet through ${STEPS} steps of calls, moves, faults and attacks (seed ${SEED})`, {
  timeout: 600_000,
}, (t) => {
  const run = new Run()
  for (let n = 0; n < STEPS; n++) {
    run.step(run.fleet.random.pick(BAG))
    try {
      run.assertServed()
    } catch (error) {
      throw new Error(`step ${n}`, { cause: error })
    }
  }
  const { fleet } = run
  const { across, astray } = fleet.network
  t.diagnostic(
    `${fleet.datagrams} datagrams from clients, ${across} from relay to relay, ${Math.round(fleet.now / 1000)} s`,
  )
  assert.ok(fleet.datagrams > STEPS && across > STEPS)
  assert.equal(astray, 0)
})
