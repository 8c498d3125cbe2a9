/**
 * A whole fleet on a made-up clock: relays behind one address, transceivers, a recovery store, clients that move, and
 * somebody bad among them. The decisions are the product's own; only sockets, keys and time are modelled.
 */

import type { Address, Recovered } from '../../core/index.ts'
import { Prng } from '../../core/testing/prng.ts'
import type { Credentials } from '../peers/checks.ts'
import { at } from '../unit/plugins/relay/simulated-relay.ts'
import { FleetClient } from './fleet-client.ts'
import { FleetRelay, type Found, KnownUfrags, VIP } from './fleet-relay.ts'
import { FleetTransceiver } from './fleet-transceiver.ts'

const TTL_MS = 30_000

/** How the store behaves: as it should, not at all, or with the entry it had first, whatever came later. */
export type StoreMode = 'up' | 'down' | 'stale'

interface Entry {
  readonly value: Recovered
  readonly until: number
}

/** The fleet. */
export class Fleet {
  readonly random: Prng
  now = 1_000_000
  store: StoreMode = 'up'
  readonly relays: readonly FleetRelay[]
  readonly transceivers: readonly FleetTransceiver[]
  readonly clients = new Set<FleetClient>()
  /** Packets that went on their way. */
  datagrams = 0
  /** Packets that a relay sent where no transceiver is. */
  astray = 0
  readonly #codec = new KnownUfrags()
  readonly #entries = new Map<string, Entry>()
  /** By which relay a client's address goes. */
  readonly #lanes = new Map<string, number>()
  readonly #queue: (() => void)[] = []
  #number = 0

  constructor(seed: number, size: { relays: number; transceivers: number }) {
    this.random = new Prng(seed)
    const around = {
      codec: this.#codec,
      now: () => this.now,
      toTransceiver: (to: Address, relay: Address, client: Address, payload: Buffer) => {
        const [from, home] = [client.clone(), this.transceivers.find(({ address }) => address.equals(to))]
        if (home === undefined) this.astray++
        this.#post(() => home?.receive({ relay, local: VIP, client: from }, Buffer.from(payload)))
      },
      toClient: (client: Address, payload: Buffer) => {
        const [to, copy] = [client.clone(), Buffer.from(payload)]
        this.#post(() => this.at(to)?.receive(copy))
      },
      remember: (client: Address, value: Recovered) => this.#remember(client, value),
      recall: (client: Address) => this.#recall(client),
    }
    const fleet = {
      now: () => this.now,
      random: (length: number) => this.random.bytes(length),
      toRelay: (relay: Address, from: Address, client: Address, payload: Buffer) => {
        const to = client.clone()
        this.#post(() =>
          this.relays.find(({ upstream }) => upstream.equals(relay))?.fromTransceiver(from, to, payload),
        )
      },
    }
    this.relays = Array.from(
      { length: size.relays },
      (_, n) => new FleetRelay(at(`10.1.0.${n + 1}:3480`), 1000 + n, around),
    )
    this.transceivers = Array.from(
      { length: size.transceivers },
      (_, n) => new FleetTransceiver(at(`10.0.0.${n + 1}:3479`), fleet),
    )
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
      local: this.#credentials(`s${number}`, transceiver.address),
      remote: secret(`c${number}`),
    }
    const session = transceiver.open(number, credentials)
    const client: FleetClient = new FleetClient(address, {
      number,
      session,
      transceiver,
      local: credentials.remote,
      remote: credentials.local,
      now: () => this.now,
      send: (from, payload) => this.send(from.address, payload),
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
    const local = this.#credentials(`s${number}`, client.transceiver.address)
    const remote = secret(`c${number}`)
    client.transceiver.routes.addUfrag(local.ufrag, client.session)
    client.session.agent.restart(local, remote)
    client.restart(remote, local)
    this.settle()
  }

  /** A datagram leaves an address, whoever sent it. */
  send(from: Address, payload: Buffer): void {
    this.datagrams++
    const [source, relay] = [from.clone(), this.relays[this.laneOf(from)]!]
    this.#post(() => relay.fromClient(source, payload))
  }

  /** Which relay an address goes by. */
  laneOf(address: Address): number {
    const key = String(address)
    const lane = this.#lanes.get(key) ?? this.random.below(this.relays.length)
    this.#lanes.set(key, lane)
    return lane
  }

  /** The load balancer sends an address by another relay. */
  rehash(address: Address): void {
    this.#lanes.set(String(address), (this.laneOf(address) + 1) % this.relays.length)
  }

  /** Somebody writes to the store. */
  poison(client: Address, value: Recovered): void {
    this.#entries.set(String(client), { value, until: this.now + TTL_MS })
  }

  /** Everything that is on its way arrives. */
  settle(): void {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) next()
  }

  #post(arrive: () => void): void {
    this.#queue.push(arrive)
  }

  #credentials(name: string, home: Address): Credentials {
    const made = secret(name)
    this.#codec.know(made.ufrag, home, Buffer.from(name.padEnd(8, '.').slice(0, 8)))
    return made
  }

  #remember(client: Address, value: Recovered): void {
    const key = String(client)
    if (this.store === 'down' || (this.store === 'stale' && this.#entries.has(key))) return
    this.#entries.set(key, { value, until: this.now + TTL_MS })
  }

  #recall(client: Address): Found {
    if (this.store === 'down') return 'down'
    const entry = this.#entries.get(String(client))
    return entry && (entry.until > this.now || this.store === 'stale') ? entry.value : undefined
  }
}

/** Of the shape that codecs write. */
function secret(name: string): Credentials {
  return { ufrag: `ufrag${name}`, pwd: `p${name}`.padEnd(22, '0') }
}
