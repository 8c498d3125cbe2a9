/**
 * The relay's part that is the same on every engine and in every thread: the pure code decides on a datagram, and it
 * goes out framed towards transceivers or bare towards its client. Nothing here answers a client, waits or knows the
 * time.
 */

import type { Address } from '../../core/index.ts'
import { Decision } from './pure/decision.ts'
import { fromClient } from './pure/from-client.ts'
import { fromTransceiver } from './pure/from-transceiver.ts'
import type { RelayState } from './pure/relay-state.ts'

/** Flows looked at in one sweep. */
const SWEEP_FLOWS = 4_096

/** Where datagrams leave; both take bytes[start, end). */
export interface Outputs {
  /** Towards a transceiver, framed. */
  up(bytes: Uint8Array, start: number, end: number, to: Address): void
  /** Towards a client, by the public socket number `local`. */
  down(local: number, bytes: Uint8Array, start: number, end: number, to: Address): void
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
    for (let i = 0; i < decision.count; i++) this.#outputs.up(bytes, from, end, decision.to[i]!)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** bytes[start, end) came to the framed socket. */
  onTransceiver(now: number, bytes: Uint8Array, start: number, end: number, source: Address): void {
    const decision = this.#down
    fromTransceiver(this.#state, now, source, bytes, start, end, decision)
    if (decision.reason !== undefined) return
    this.#outputs.down(decision.local, bytes, decision.payload, end, decision.client)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** To be called now and then: ends what is over. */
  sweep(now: number): void {
    this.#state.flows.sweep(now | 0, SWEEP_FLOWS)
  }
}
