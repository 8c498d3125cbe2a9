/**
 * One worker: datagrams come from sockets, the pure code decides, datagrams go out. The clock is read once a datagram.
 * Nothing here answers a client or waits.
 */

import { type Address, type Datagram, SPP_LENGTH, type UdpPort, writeSpp } from '../../core/index.ts'
import { Decision } from './pure/decision.ts'
import { fromClient } from './pure/from-client.ts'
import { fromTransceiver } from './pure/from-transceiver.ts'
import type { RelayState } from './pure/relay-state.ts'
import type { RelaySockets } from './sockets.ts'

const SWEEP_MS = 1_000
const SWEEP_FLOWS = 4_096

/** What a worker tells of, away from the common path. */
export interface WorkerEvents {
  /** A route was opened or confirmed, or the store should hear of it again; `decision` is reused afterwards. */
  onFlowEvent(now: number, decision: Decision): void
  /** An unknown client sent something that a recovered route could carry. */
  onUnknownClient(now: number, local: number, client: Address): void
}

/** A worker of the relay. */
export class RelayWorker {
  readonly #state: RelayState
  readonly #publics: readonly UdpPort[]
  readonly #upstream: UdpPort
  readonly #events: WorkerEvents
  // One for each direction: an engine that delivers within `send` must not overwrite the other's.
  readonly #up = new Decision()
  readonly #down = new Decision()
  readonly #sweeper: NodeJS.Timeout

  constructor(state: RelayState, sockets: RelaySockets, events: WorkerEvents) {
    this.#state = state
    this.#publics = sockets.publics
    this.#upstream = sockets.upstream
    this.#events = events
    this.#sweeper = setInterval(() => {
      const now = performance.now()
      state.flows.sweep(now, SWEEP_FLOWS)
      state.silence.note(now, state.counters.packetsDown)
    }, SWEEP_MS)
    this.#sweeper.unref()
  }

  /** A datagram came to the public socket number `local`. */
  onClient(local: number, { bytes, start, end, source }: Datagram): void {
    const now = performance.now()
    const decision = this.#up
    fromClient(this.#state, now, local, source, bytes, start, end, decision)
    if (decision.reason !== undefined) {
      if (decision.wantsLookUp) this.#events.onUnknownClient(now, local, source)
      return
    }
    const from = start - SPP_LENGTH
    writeSpp(bytes, from, source, this.#state.locals[local]!)
    for (let i = 0; i < decision.count; i++) this.#upstream.send(bytes, from, end, decision.to[i]!)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** A datagram came to the framed socket. */
  onTransceiver({ bytes, start, end, source }: Datagram): void {
    const now = performance.now()
    const decision = this.#down
    fromTransceiver(this.#state, now, source, bytes, start, end, decision)
    if (decision.reason !== undefined) return
    this.#publics[decision.local]!.send(bytes, decision.payload, end, decision.client!)
    if (decision.event !== undefined) this.#events.onFlowEvent(now, decision)
  }

  /** Stops the worker's timer; the sockets are closed by whoever opened them. */
  close(): void {
    clearInterval(this.#sweeper)
  }
}
