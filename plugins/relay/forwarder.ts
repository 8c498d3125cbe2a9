/**
 * The relay's part that is the same on every engine and in every thread: the pure code decides on a datagram, and it
 * goes out framed towards transceivers or bare towards its client. Nothing here answers a client, waits or knows the
 * time.
 */

import type { Address, Cidr } from '../../core/index.ts'
import type { NatSockets } from './nat-sockets.ts'
import { Decision } from './pure/decision.ts'
import { fromClient } from './pure/from-client.ts'
import { fromRelay } from './pure/from-relay.ts'
import { fromServer, fromTransceiver } from './pure/from-transceiver.ts'
import type { RelayState } from './pure/relay-state.ts'

/** Flows looked at in one sweep. */
const SWEEP_FLOWS = 4_096

/** Where datagrams leave; both take bytes[start, end). */
export interface Outputs {
  /** Towards a transceiver, framed. */
  up(bytes: Uint8Array, start: number, end: number, to: Address): void
  /** Towards a client, by the public socket number `local`. */
  down(local: number, bytes: Uint8Array, start: number, end: number, to: Address): void
  /** What a relay in more than one cluster needs besides. */
  readonly relays?: RelayOutputs
  /** Instead of `up`, where each flow has a socket of its own. */
  readonly servers?: Pick<NatSockets, 'send'>
}

/** Where datagrams to and from other relays leave. */
export interface RelayOutputs {
  /** Those that may send to us. */
  readonly trusted: readonly Cidr[]
  /** Ports towards relays; a client's datagrams always leave by the same one. */
  readonly ports: number
  /** Towards the relay of another cluster, framed, by port number `port`. */
  across(port: number, bytes: Uint8Array, start: number, end: number, to: Address): void
  /** Back to the relay that a client's datagrams came from, framed. */
  back(bytes: Uint8Array, start: number, end: number, to: Address): void
  /** The header at bytes[start] is about to be written anew. */
  keep?(bytes: Uint8Array, start: number): void
}

/** What is told of, away from the common path. */
export interface ForwarderEvents {
  /** A route was opened or confirmed, or the store should hear of it again; `decision` is reused afterwards. */
  onFlowEvent(now: number, decision: Decision): void
  /** An unknown client sent something that a recovered route could carry. */
  onUnknownClient(now: number, local: number, client: Address): void
}

/** Forwards for one worker. */
export class Forwarder {
  readonly #state: RelayState
  readonly #outputs: Outputs
  readonly #events: ForwarderEvents
  // One for each direction: an engine that delivers within `send` must not overwrite the other's.
  readonly #up = new Decision()
  readonly #down = new Decision()

  constructor(state: RelayState, outputs: Outputs, events: ForwarderEvents) {
    this.#state = state
    this.#outputs = outputs
    this.#events = events
  }

  /** bytes[start, end) came to the public socket number `local`; there is HEAD_ROOM in front. */
  onClient(now: number, local: number, bytes: Uint8Array, start: number, end: number, source: Address): void {
    const decision = this.#up
    fromClient(this.#state, now, local, source, bytes, start, end, decision)
    if (decision.reason !== undefined) {
      if (decision.wantsLookUp) this.#events.onUnknownClient(now, local, source)
      return
    }
    const { framing, locals } = this.#state
    framing.write(bytes, start, end, source, locals[local]!)
    const from = start - framing.length
    const { servers } = this.#outputs
    for (let i = 0; i < decision.count; i++) {
      if (servers) servers.send(decision.flow, local, source, bytes, from, end, decision.to[i]!)
      else if (decision.clusters[i]! < 0) this.#outputs.up(bytes, from, end, decision.to[i]!)
      else this.#across(local, source, bytes, from, end, decision.to[i]!)
    }
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  #across(local: number, client: Address, bytes: Uint8Array, start: number, end: number, to: Address): void {
    const { relays } = this.#outputs
    relays?.across(portOf(client, local, relays.ports), bytes, start, end, to)
  }

  /** bytes[start, end) came to the socket for other relays. The header is written anew, never nested. */
  onRelay(now: number, bytes: Uint8Array, start: number, end: number, source: Address): void {
    const decision = this.#up
    const { relays } = this.#outputs
    if (relays === undefined) return
    fromRelay(this.#state, relays.trusted, now, source, bytes, start, end, decision)
    const { local, client, payload } = decision
    if (decision.reason !== undefined) {
      if (decision.wantsLookUp) this.#events.onUnknownClient(now, local, client)
      return
    }
    const { framing, hops } = this.#state
    relays.keep?.(bytes, start)
    framing.write(bytes, payload, end, client, hops.nameOf(local))
    const from = payload - framing.length
    for (let i = 0; i < decision.count; i++) this.#outputs.up(bytes, from, end, decision.to[i]!)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** bytes[start, end) came to the framed socket. */
  onTransceiver(now: number, bytes: Uint8Array, start: number, end: number, source: Address): void {
    const decision = this.#down
    fromTransceiver(this.#state, now, source, bytes, start, end, decision)
    if (decision.reason !== undefined) return
    if (this.#state.hops.isHop(decision.local)) this.#back(bytes, start, end, decision)
    else this.#outputs.down(decision.local, bytes, decision.payload, end, decision.client)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** bytes[start, end) came bare to the socket of a client's flow. */
  onServer(
    now: number,
    local: number,
    client: Address,
    bytes: Uint8Array,
    start: number,
    end: number,
    source: Address,
  ): void {
    const decision = this.#down
    fromServer(this.#state, now, local, client, source, bytes, start, end, decision)
    if (decision.reason !== undefined) return
    this.#outputs.down(local, bytes, start, end, decision.client)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** To the relay that the client's datagrams came from, as if it had come from a transceiver there. */
  #back(bytes: Uint8Array, start: number, end: number, { local, client, payload }: Decision): void {
    const { answering, hops } = this.#state
    this.#outputs.relays?.keep?.(bytes, start)
    answering.write(bytes, payload, end, client, hops.proxyOf(local))
    this.#outputs.relays?.back(bytes, payload - answering.length, end, hops.relayOf(local))
  }

  /** To be called now and then: ends what is over. */
  sweep(now: number): void {
    this.#state.flows.sweep(now | 0, SWEEP_FLOWS)
  }
}

/** A client's always the same, so that a cluster's relay knows it by one previous hop; another for each of our sockets. */
function portOf(client: Address, local: number, ports: number): number {
  return ((client.hash(0) + local) >>> 0) % ports
}
