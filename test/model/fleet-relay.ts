/** A relay of the model: the real decisions and the real bounds on look-ups, without sockets and clocks. */

import {
  type Address,
  type Recovered,
  type Route,
  type RoutingCodec,
  SPP_LENGTH,
  writeSpp,
} from '../../core/index.ts'
import { Decision } from '../../plugins/relay/pure/decision.ts'
import { fromClient } from '../../plugins/relay/pure/from-client.ts'
import { fromTransceiver } from '../../plugins/relay/pure/from-transceiver.ts'
import { FAILED_MS, FRUITLESS_MS } from '../../plugins/relay/pure/limits.ts'
import { LookUps } from '../../plugins/relay/pure/look-ups.ts'
import { recover } from '../../plugins/relay/pure/recover.ts'
import { type RelayState, relayState } from '../../plugins/relay/pure/relay-state.ts'
import { at } from '../unit/plugins/relay/simulated-relay.ts'

/** Every relay answers at this one address. */
export const VIP = at('203.0.113.10:3478')
/** Where the operator lets routes lead, and where transceivers are. */
const CIDR = '10.0.0.0/24'
const PORT = 3479

/** What a store says: a route, nothing, or that it is down. */
export type Found = Recovered | undefined | 'down'

/** What surrounds a relay. */
export interface RelaySurroundings {
  readonly codec: RoutingCodec
  now(): number
  /** A datagram goes to a transceiver, from this relay. */
  toTransceiver(transceiver: Address, from: Address, client: Address, payload: Buffer): void
  toClient(client: Address, payload: Buffer): void
  remember(client: Address, value: Recovered): void
  recall(client: Address): Found
}

/** One relay. `restart` forgets everything. */
export class FleetRelay {
  /** Its socket towards transceivers. */
  readonly upstream: Address
  readonly #around: RelaySurroundings
  readonly #decision = new Decision()
  readonly #seed: number
  #state: RelayState
  #lookUps: LookUps

  constructor(upstream: Address, seed: number, around: RelaySurroundings) {
    this.upstream = upstream
    this.#seed = seed
    this.#around = around
    this.#state = this.#fresh()
    this.#lookUps = new LookUps(seed)
  }

  /** Killed and started again. */
  restart(): void {
    this.#state = this.#fresh()
    this.#lookUps = new LookUps(this.#seed)
  }

  /** A datagram comes from a client's address. */
  fromClient(client: Address, payload: Buffer): void {
    const now = this.#around.now()
    const decision = this.#decision
    fromClient(this.#state, now, 0, client, payload, 0, payload.length, decision)
    if (decision.reason !== undefined) {
      if (decision.wantsLookUp) this.#lookUp(now, client)
      return
    }
    const to = decision.to.slice(0, decision.count).map((address) => address!.clone())
    if (decision.event === 'confirmed' || decision.event === 'refreshed') this.#remember()
    for (const transceiver of to) this.#around.toTransceiver(transceiver, this.upstream, client, payload)
  }

  /** A framed datagram comes from a transceiver. */
  fromTransceiver(transceiver: Address, client: Address, payload: Buffer): void {
    const bytes = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
    writeSpp(bytes, 0, client, VIP)
    const decision = this.#decision
    fromTransceiver(this.#state, this.#around.now(), transceiver, bytes, 0, bytes.length, decision)
    if (decision.reason !== undefined) return
    const to = decision.client.clone()
    if (decision.event === 'confirmed' || decision.event === 'refreshed') this.#remember()
    this.#around.toClient(to, bytes.subarray(decision.payload))
  }

  /** What an operator's timer does. */
  sweep(): void {
    this.#state.flows.sweep(this.#around.now() | 0, 4096)
  }

  #remember(): void {
    const { isIncumbent, client, transceiver, session } = this.#decision
    if (!isIncumbent) return
    this.#around.remember(client, { cluster: 1, transceiver: transceiver.clone(), session: session.slice() })
  }

  #lookUp(now: number, client: Address): void {
    const lookUp = this.#lookUps.begin(now, 0, client)
    if (lookUp === undefined) return
    const found = this.#around.recall(client)
    const isHit =
      found !== undefined && found !== 'down' && recover(this.#state, now, 0, client, found, this.#decision)
    this.#lookUps.end(now, lookUp, isHit ? 0 : found === 'down' ? FAILED_MS : FRUITLESS_MS)
  }

  #fresh(): RelayState {
    return relayState({
      codec: this.#around.codec,
      locals: [VIP],
      maxFlows: 4096,
      seed: this.#seed,
      cluster: 1,
      cidrs: [CIDR],
      ports: { first: PORT, last: PORT },
      own: [VIP, this.upstream],
    })
  }
}

/** A codec that knows the ufrags it was told; any other text is nobody's. */
export class KnownUfrags implements RoutingCodec {
  readonly #routes = new Map<string, Route>()

  know(ufrag: string, address: Address, session: Uint8Array): void {
    this.#routes.set(ufrag, { cluster: 1, address, session })
  }

  encode(): string {
    throw new Error('the model makes its own ufrags')
  }

  decode(text: Uint8Array, start: number, end: number): Route | undefined {
    return this.#routes.get(Buffer.from(text.subarray(start, end)).toString('latin1'))
  }
}
