/**
 * A relay's worker in a thread of its own: the loop brings datagrams, the forwarder sends them on. Flow events go into
 * the ring; unknown clients and the store's answers go by messages, few by their budget.
 */

import {
  Address,
  DatagramLoop,
  type DatagramLoopReceiver,
  framing,
  parseAddress,
  type RoutingCodec,
} from '../../../core/index.ts'
import { Forwarder } from '../forwarder.ts'
import { Decision } from '../pure/decision.ts'
import { HopTable } from '../pure/hop-table.ts'
import { FRUITLESS_MS } from '../pure/limits.ts'
import { type LookUp, LookUps } from '../pure/look-ups.ts'
import { recover } from '../pure/recover.ts'
import { type RelayState, relayState } from '../pure/relay-state.ts'
import { FlowRing } from './flow-ring.ts'
import type { Command, FoundText, Report, ThreadData } from './messages.ts'
import { clustersOf, findCluster, ThreadRelays } from './thread-relays.ts'

const SWEEP_MS = 50

/** How to reach the main thread. */
export interface ThreadPort {
  post(report: Report): void
  /** The next command, if there is one. */
  receive(): Command | undefined
}

/** The worker; `run` returns when it is told to stop. */
export class RelayThread implements DatagramLoopReceiver {
  readonly #loop: DatagramLoop
  readonly #port: ThreadPort
  readonly #ring: FlowRing
  readonly #state: RelayState
  readonly #forwarder: Forwarder
  readonly #lookUps: LookUps | undefined
  readonly #asked = new Map<number, LookUp>()
  readonly #decision = new Decision()
  /** The framed socket's place among the loop's. */
  readonly #framed: number
  readonly #relays: ThreadRelays
  readonly #makeCodec: (data: unknown) => RoutingCodec
  #codec: RoutingCodec
  #lookUpCount = 0
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(data: ThreadData, makeCodec: (data: unknown) => RoutingCodec, port: ThreadPort) {
    this.#port = port
    this.#makeCodec = makeCodec
    this.#codec = makeCodec(data.codec.data)
    this.#ring = new FlowRing(data.ring)
    this.#lookUps = data.hasStore ? new LookUps(data.seed) : undefined
    this.#framed = data.locals.length
    const loop = new DatagramLoop(data.loop, this)
    this.#loop = loop
    const relays = new ThreadRelays(loop, data)
    this.#relays = relays
    this.#state = this.#stateOf(data)
    this.#forwarder = new Forwarder(
      this.#state,
      {
        up: (_bytes, start, end, to) => loop.forward(this.#framed, start, end, to),
        down: (local, _bytes, start, end, to) => loop.forward(local, start, end, to),
        relays: relays.outputs,
      },
      {
        onFlowEvent: (now, decision) => this.#call(this.#ring.write(now, decision)),
        onUnknownClient: (now, local, client) => this.#ask(now, local, client),
      },
    )
  }

  /** Runs until it is told to stop. */
  run(): void {
    this.#port.post({ type: 'runs' })
    this.#loop.run()
  }

  onDatagram(
    socket: number,
    now: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    source: Address,
  ): void {
    if (socket < this.#framed) {
      this.#forwarder.onClient(now, socket, bytes, start, end, source)
      return
    }
    const relays = this.#relays
    relays.begin(socket, bytes, start)
    if (socket === relays.internal) this.#forwarder.onRelay(now, bytes, start, end, source)
    else this.#forwarder.onTransceiver(now, bytes, start, end, source)
  }

  onWake(now: number): void {
    for (let command = this.#port.receive(); command; command = this.#port.receive()) {
      if (command.type === 'found') this.#found(now, command.id, command.found, command.pauseMs)
      else if (command.type === 'cluster') findCluster(this.#state.clusters, command)
      else this.#codec = this.#makeCodec(command.data)
    }
  }

  onTick(now: number): void {
    if (now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    this.#forwarder.sweep(now)
  }

  #stateOf(data: ThreadData): RelayState {
    const locals = data.locals.map(known)
    const options = {
      // Keys may change under a running relay; the state keeps the codec that it was made with.
      codec: {
        encode: (...args: Parameters<RoutingCodec['encode']>) => this.#codec.encode(...args),
        decode: (...args: Parameters<RoutingCodec['decode']>) => this.#codec.decode(...args),
      },
      framing: framing(data.frameKeys, 'up'),
      answering: framing(data.frameKeys, 'down'),
      clusters: clustersOf(data.clusters),
      hops: new HopTable(locals, data.relays.hops),
      locals,
      own: data.own.map(known),
      cluster: data.cluster,
      cidrs: data.cidrs,
      ports: data.ports,
      maxFlows: data.maxFlows,
      seed: data.seed,
      others: data.others,
      onFlowEnd: (flow: Parameters<FlowRing['writeEnd']>[1]) => {
        if (!flow.isConfirmed) return
        const now = this.#loop.now()
        for (const route of flow.routes) {
          if (route.state === 'live') this.#call(this.#ring.writeEnd(now, flow, route))
        }
      },
    }
    return relayState(options, data.memory)
  }

  #call(isDue: boolean): void {
    if (isDue) this.#port.post({ type: 'events' })
  }

  #ask(now: number, local: number, client: Address): void {
    const lookUp = this.#lookUps?.begin(now, local, client)
    if (lookUp === undefined) return
    const id = this.#lookUpCount++
    this.#asked.set(id, lookUp)
    this.#port.post({ type: 'unknown', id, local, client: client.toString() })
  }

  #found(now: number, id: number, found: FoundText | undefined, pauseMs: number): void {
    const lookUp = this.#asked.get(id)
    if (lookUp === undefined) return
    this.#asked.delete(id)
    const transceiver = found && parseAddress(found.transceiver)
    const isUsed =
      transceiver !== undefined &&
      recover(this.#state, now, lookUp.local, lookUp.client, { ...found!, transceiver }, this.#decision)
    this.#lookUps?.end(now, lookUp, isUsed ? 0 : found ? FRUITLESS_MS : pauseMs)
    this.#port.post({ type: 'used', id, isUsed })
  }
}

function known(text: string): Address {
  return parseAddress(text) ?? new Address()
}
