/** A relay of the model: the real forwarder and the real bounds on look-ups, without sockets and clocks. */

import { type Address, HEAD_ROOM, parseCidr, type Recovered, type RoutingCodec } from '../../core/index.ts'
import { Forwarder } from '../../plugins/relay/forwarder.ts'
import { Decision } from '../../plugins/relay/pure/decision.ts'
import { HopTable } from '../../plugins/relay/pure/hop-table.ts'
import { FAILED_MS, FRUITLESS_MS } from '../../plugins/relay/pure/limits.ts'
import { LookUps } from '../../plugins/relay/pure/look-ups.ts'
import { OtherClusters } from '../../plugins/relay/pure/other-clusters.ts'
import { recover } from '../../plugins/relay/pure/recover.ts'
import { type RelayState, relayState } from '../../plugins/relay/pure/relay-state.ts'
import { at } from '../unit/plugins/relay/simulated-relay.ts'

/** Sockets towards relays of other clusters. */
const SPREAD = 16
/** Where relays of other clusters are. */
const RELAYS = [parseCidr('10.1.0.0/16')!]

/** What a store says: a route, nothing, or that it is down. */
export type Found = Recovered | undefined | 'down'

/** Where a relay is, and what it is for. */
export interface RelayPlace {
  readonly cluster: number
  /** What its clients send to; every relay behind a balancer has the same. */
  readonly front: Address
  /** Its own ip: `upstream`, `internal` and the sockets towards other relays are ports of it. */
  readonly host: string
  /** Where the operator lets routes lead. */
  readonly cidrs: readonly string[]
  /** Clusters whose relays it knows. */
  readonly clusters: readonly number[]
}

/** What surrounds a relay. Bytes that it sends are copies. */
export interface RelaySurroundings {
  readonly codec: RoutingCodec
  now(): number
  /** A framed datagram goes to a transceiver, to a relay of another cluster, or back to a relay that it came from. */
  send(way: 'up' | 'across' | 'back', from: Address, to: Address, bytes: Buffer): void
  toClient(front: Address, client: Address, payload: Buffer): void
  /** `front` is what the store knows the socket or the previous hop by. */
  remember(front: Address, client: Address, value: Recovered): void
  recall(front: Address, client: Address): Found
}

/** One relay. `restart` forgets everything but where the relays of other clusters are. */
export class FleetRelay {
  readonly place: RelayPlace
  /** Its sockets: towards transceivers, for relays of other clusters, and towards those. */
  readonly upstream: Address
  readonly internal: Address
  readonly spread: readonly Address[]
  /** Relays of other clusters do not reach it. */
  isCutOff = false
  readonly #around: RelaySurroundings
  readonly #decision = new Decision()
  readonly #seed: number
  readonly #clusters: OtherClusters
  #state!: RelayState
  #forwarder!: Forwarder
  #lookUps!: LookUps

  constructor(place: RelayPlace, seed: number, around: RelaySurroundings) {
    this.place = place
    this.upstream = portOf(place, 3480)
    this.internal = portOf(place, 3490)
    this.spread = Array.from({ length: SPREAD }, (_, i) => portOf(place, 3500 + i))
    this.#seed = seed
    this.#around = around
    this.#clusters = new OtherClusters(place.clusters)
    this.restart()
  }

  /** Killed and started again. */
  restart(): void {
    this.#state = this.#fresh()
    this.#lookUps = new LookUps(this.#seed)
    this.#forwarder = this.#forward()
  }

  /** The relay of another cluster is there from now on. */
  find(cluster: number, relay: Address): void {
    if (this.#clusters.has(cluster)) this.#clusters.set(cluster, relay)
  }

  /** A datagram comes from a client's address. */
  fromClient(client: Address, payload: Buffer): void {
    const bytes = Buffer.concat([Buffer.alloc(HEAD_ROOM), payload])
    this.#forwarder.onClient(this.#around.now(), 0, bytes, HEAD_ROOM, bytes.length, client)
  }

  /** A framed datagram comes to the socket for other relays. */
  fromRelay(source: Address, framed: Buffer): void {
    if (this.isCutOff) return
    const bytes = Buffer.concat([Buffer.alloc(HEAD_ROOM), framed])
    this.#forwarder.onRelay(this.#around.now(), bytes, HEAD_ROOM, bytes.length, source)
  }

  /** A framed datagram comes from a transceiver, or from a relay of another cluster that answers. */
  fromTransceiver(source: Address, framed: Buffer): void {
    const bytes = Buffer.concat([Buffer.alloc(HEAD_ROOM), framed])
    this.#forwarder.onTransceiver(this.#around.now(), bytes, HEAD_ROOM, bytes.length, source)
  }

  /** What an operator's timer does. */
  sweep(): void {
    this.#forwarder.sweep(this.#around.now())
  }

  #forward(): Forwarder {
    const around = this.#around
    const copy = (bytes: Uint8Array, start: number, end: number): Buffer =>
      Buffer.from(bytes.subarray(start, end))
    const relays = {
      trusted: RELAYS,
      ports: SPREAD,
      across: (port: number, bytes: Uint8Array, start: number, end: number, to: Address) =>
        around.send('across', this.spread[port]!, to, copy(bytes, start, end)),
      back: (bytes: Uint8Array, start: number, end: number, to: Address) =>
        around.send('back', this.internal, to, copy(bytes, start, end)),
    }
    const outputs = {
      up: (bytes: Uint8Array, start: number, end: number, to: Address) =>
        around.send('up', this.upstream, to, copy(bytes, start, end)),
      down: (_local: number, bytes: Uint8Array, start: number, end: number, to: Address) =>
        around.toClient(this.place.front, to, copy(bytes, start, end)),
      relays,
    }
    return new Forwarder(this.#state, outputs, {
      onFlowEvent: (_now, decision) => this.#remember(decision),
      onUnknownClient: (now, local, client) => this.#lookUp(now, local, client),
    })
  }

  #remember({ event, isIncumbent, local, client, cluster, transceiver, session }: Decision): void {
    if (event === 'opened' || !isIncumbent) return
    this.#around.remember(this.#state.hops.nameOf(local), client, {
      cluster: cluster < 0 ? this.place.cluster : cluster,
      transceiver: transceiver.clone(),
      session: session.slice(),
    })
  }

  #lookUp(now: number, local: number, client: Address): void {
    const lookUp = this.#lookUps.begin(now, local, client)
    if (lookUp === undefined) return
    const found = this.#around.recall(this.#state.hops.nameOf(local), client)
    const isHit =
      found !== undefined &&
      found !== 'down' &&
      recover(this.#state, now, local, client, found, this.#decision)
    this.#lookUps.end(now, lookUp, isHit ? 0 : found === 'down' ? FAILED_MS : FRUITLESS_MS)
  }

  #fresh(): RelayState {
    const { front, cluster, cidrs } = this.place
    return relayState({
      codec: this.#around.codec,
      locals: [front],
      maxFlows: 4096,
      seed: this.#seed,
      cluster,
      cidrs,
      ports: { first: 3479, last: 3479 },
      own: [front, this.upstream, this.internal, ...this.spread],
      hops: new HopTable([front]),
      clusters: this.#clusters,
    })
  }
}

function portOf({ host }: RelayPlace, port: number): Address {
  return at(`${host}:${port}`)
}
