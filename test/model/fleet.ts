/**
 * A whole fleet on a made-up clock: two clusters and global relays in front of them, relays behind balancers,
 * transceivers, a recovery store, clients that move, and somebody bad among them. The decisions are the product's own;
 * only sockets, keys and time are modelled.
 */

import type { Address } from '../../core/index.ts'
import { Prng } from '../../core/testing/prng.ts'
import type { Credentials } from '../peers/checks.ts'
import { at } from '../unit/plugins/relay/simulated-relay.ts'
import { FleetClient } from './fleet-client.ts'
import { Front } from './fleet-front.ts'
import { FleetNetwork } from './fleet-network.ts'
import { FleetRelay, type RelayPlace, type RelaySurroundings } from './fleet-relay.ts'
import { FleetStore } from './fleet-store.ts'
import { FleetTransceiver } from './fleet-transceiver.ts'
import { KnownUfrags } from './known-ufrags.ts'

/** Clusters with transceivers of their own, and one without. */
const CLUSTERS: readonly (Omit<RelayPlace, 'host'> & { hosts: readonly string[] })[] = [
  {
    cluster: 1,
    front: at('203.0.113.10:3478'),
    hosts: ['10.1.1.1', '10.1.1.2'],
    cidrs: ['10.0.1.0/24'],
    clusters: [2],
  },
  { cluster: 2, front: at('203.0.113.20:3478'), hosts: ['10.1.2.1'], cidrs: ['10.0.2.0/24'], clusters: [1] },
  {
    cluster: 9,
    front: at('203.0.113.99:3478'),
    hosts: ['10.1.9.1', '10.1.9.2'],
    cidrs: ['10.0.9.0/24'],
    clusters: [1, 2],
  },
]
const TRANSCEIVERS = [
  { cluster: 1, address: at('10.0.1.1:3479') },
  { cluster: 1, address: at('10.0.1.2:3479') },
  { cluster: 1, address: at('10.0.1.3:3479') },
  { cluster: 2, address: at('10.0.2.1:3479') },
  { cluster: 2, address: at('10.0.2.2:3479') },
]
/** Of ten clients, how many call by the front of their own cluster, and how many by the global one. */
const OWN_FRONT = 0.6
const GLOBAL_FRONT = 0.3

/** The fleet. */
export class Fleet {
  readonly random: Prng
  now = 1_000_000
  readonly store = new FleetStore(() => this.now)
  readonly network = new FleetNetwork((arrive) => void this.#queue.push(arrive))
  readonly fronts: readonly Front[]
  readonly relays: readonly FleetRelay[]
  readonly transceivers: readonly FleetTransceiver[]
  readonly clients = new Set<FleetClient>()
  /** Packets that went on their way. */
  datagrams = 0
  readonly #codec = new KnownUfrags()
  readonly #queue: (() => void)[] = []
  #number = 0

  constructor(seed: number) {
    this.random = new Prng(seed)
    const around = this.#surroundings()
    this.fronts = CLUSTERS.map(({ hosts, ...place }) => {
      const relays = hosts.map((host, n) => new FleetRelay({ ...place, host }, 1000 + n, around))
      return new Front(relays, (limit) => this.random.below(limit))
    })
    this.relays = this.fronts.flatMap(({ relays }) => relays)
    const ways = {
      now: () => this.now,
      random: (length: number) => this.random.bytes(length),
      toRelay: (relay: Address, from: Address, bytes: Buffer) =>
        this.network.send('back', from, relay, bytes),
    }
    this.transceivers = TRANSCEIVERS.map(
      ({ cluster, address }) => new FleetTransceiver(cluster, address, ways),
    )
    for (const relay of this.relays) this.network.addRelay(relay)
    for (const transceiver of this.transceivers) this.network.addTransceiver(transceiver)
    for (const { relays } of this.fronts) this.find(relays[0]!)
  }

  /** Who has an address now. */
  at(address: Address): FleetClient | undefined {
    for (const client of this.clients) if (client.address.equals(address)) return client
    return undefined
  }

  /** A new call from an address. */
  call(address: Address): FleetClient {
    const transceiver = this.random.pick(this.transceivers)
    const number = ++this.#number
    const credentials = {
      local: this.#credentials(`s${number}`, transceiver),
      remote: secret(`c${number}`),
    }
    const session = transceiver.open(number, credentials)
    const client: FleetClient = new FleetClient(address, {
      number,
      session,
      transceiver,
      front: this.#frontFor(transceiver),
      local: credentials.remote,
      remote: credentials.local,
      now: () => this.now,
      send: (from, payload) => this.send(from.address, from.front, payload),
    })
    this.clients.add(client)
    this.settle()
    return client
  }

  /** A call ends on both sides. */
  hangUp(client: FleetClient): void {
    this.clients.delete(client)
    client.transceiver.close(client.session)
  }

  /** A client's ICE restart: new credentials on both sides, on the call that goes on. */
  restartIce(client: FleetClient): void {
    const number = `${client.number}r${++this.#number}`
    const local = this.#credentials(`s${number}`, client.transceiver)
    const remote = secret(`c${number}`)
    client.transceiver.routes.addUfrag(local.ufrag, client.session)
    client.session.agent.restart(local, remote)
    client.restart(remote, local)
    this.settle()
  }

  /** A datagram leaves an address for a front, whoever sent it. */
  send(from: Address, front: Front, payload: Buffer): void {
    this.datagrams++
    const [source, relay] = [from.clone(), front.relayOf(from)]
    this.#post(() => relay.fromClient(source, payload))
  }

  /** The relays of other clusters find this one by the name of its cluster from now on, and reach it. */
  find(relay: FleetRelay): void {
    relay.isCutOff = false
    for (const other of this.relays) other.find(relay.place.cluster, relay.internal)
  }

  /** Whether packets of a client may go by a relay. */
  goesBy({ address, front, transceiver }: FleetClient, relay: FleetRelay): boolean {
    return front.relayOf(address) === relay || isAbroad(front, transceiver, relay)
  }

  /** Everything that is on its way arrives. */
  settle(): void {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) next()
  }

  #surroundings(): RelaySurroundings {
    return {
      codec: this.#codec,
      now: () => this.now,
      send: (...datagram) => this.network.send(...datagram),
      toClient: (front: Address, client: Address, payload: Buffer) => {
        const to = client.clone()
        this.#post(() => this.at(to)?.receive(front, payload))
      },
      remember: (...known) => this.store.remember(...known),
      recall: (...unknown) => this.store.recall(...unknown),
    }
  }

  #frontFor({ cluster }: FleetTransceiver): Front {
    const chance = this.random.next()
    const isOwn = ({ relays }: Front): boolean => relays[0]!.place.cluster === cluster
    if (chance < OWN_FRONT) return this.fronts.find(isOwn)!
    if (chance < OWN_FRONT + GLOBAL_FRONT) return this.fronts.at(-1)!
    return this.random.pick(this.fronts.slice(0, -1).filter((front) => !isOwn(front)))
  }

  #post(arrive: () => void): void {
    this.#queue.push(arrive)
  }

  #credentials(name: string, { cluster, address }: FleetTransceiver): Credentials {
    const made = secret(name)
    const session = Buffer.from(name.padEnd(8, '.').slice(0, 8))
    this.#codec.know(made.ufrag, { cluster, address, session })
    return made
  }
}

/** Whether the client of a front in one cluster, of a call in another, may go by a relay of that other. */
function isAbroad(front: Front, { cluster }: FleetTransceiver, relay: FleetRelay): boolean {
  return relay.place.cluster === cluster && !front.relays.includes(relay)
}

/** Of the shape that codecs write. */
function secret(name: string): Credentials {
  return { ufrag: `ufrag${name}`, pwd: `p${name}`.padEnd(22, '0') }
}
