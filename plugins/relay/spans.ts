/**
 * The relay's spans in a call's trace: when a route was opened, confirmed or recovered, and its flow's whole life when
 * it ends. None for a packet, and no more a second than `SpanBudget` allows. The relay knows a call by the session in
 * its ufrag alone; the trace follows from that.
 */

import { type Address, type Context, clientAttributes, wallTime } from '../../core/index.ts'
import type { Decision } from './pure/decision.ts'
import type { FlowView } from './pure/flow-view.ts'
import type { HopTable } from './pure/hop-table.ts'
import { SpanBudget, type SpanKind } from './pure/span-budget.ts'

/** Flows that still get a span when the relay closes. */
const LAST_FLOWS = 500

/** Between whom a flow's packets go, and for which session. */
export interface FlowPath {
  /** What the client sends to. */
  readonly local: Address
  readonly client: Address
  readonly transceiver: Address
  readonly session: Uint8Array
}

/** A worker's flows, and where their clients send to. */
interface ClosingState {
  readonly flows: { page(from: number, limit: number): { flows: FlowView[] } }
  readonly hops: Pick<HopTable, 'proxyOf'>
}

/** Makes the spans. */
export class FlowSpans {
  readonly budget = new SpanBudget()
  readonly #context: Pick<Context, 'tracer' | 'tracing'>

  constructor(context: Pick<Context, 'tracer' | 'tracing'>) {
    this.#context = context
  }

  /** The first request of a client that sends to `local` went to a transceiver. */
  opened(now: number, local: Address, decision: Decision): void {
    this.#record('opened', 'relay.flow.open', now, now, pathOf(local, decision))
  }

  /** A success response came; the span lasts from when the route was opened. */
  confirmed(now: number, local: Address, decision: Decision): void {
    const opened = now - decision.routeAgeMs
    this.#record('confirmed', 'relay.flow.confirm', opened, now, pathOf(local, decision))
  }

  /** The recovery store knew the client; the span lasts as long as the look-up took. */
  recovered(now: number, path: FlowPath, tookMs: number): void {
    this.#record('recovered', 'relay.flow.recover', now - tookMs, now, path)
  }

  /** A flow has ended; where it was confirmed, the span is its life, with what went through. */
  ended(now: number, local: Address, flow: FlowView): void {
    if (!flow.isConfirmed) return
    for (const route of flow.routes) {
      if (route.state !== 'live') continue
      const { transceiver, session } = route
      const end = { client: flow.client, local, transceiver, session }
      this.#record('ended', 'relay.flow', now - route.ageMs(now), now, end, traffic(flow))
    }
  }

  /** A worker of the relay closes: these flows end with it, as far as spans can tell. */
  closing(now: number, { flows, hops }: ClosingState): void {
    if (!this.#context.tracing.isOn) return
    for (const flow of flows.page(0, LAST_FLOWS).flows) this.ended(now, hops.proxyOf(flow.local), flow)
  }

  #record(kind: SpanKind, name: string, from: number, to: number, path: FlowPath, extra = {}): void {
    const { tracer, tracing } = this.#context
    if (!tracing.isOn || !this.budget.take(to, kind)) return
    const attributes = { ...addresses(path), ...extra }
    const options = { attributes, startTime: wallTime(from) }
    tracer.startSpan(name, options, tracing.parent(path.session)).end(wallTime(to))
  }
}

function pathOf(local: Address, { client, transceiver, session }: Decision): FlowPath {
  return { local, client, transceiver, session }
}

function addresses({ client, local, transceiver }: FlowPath) {
  return {
    ...clientAttributes(client, local),
    'server.address': transceiver.host,
    'server.port': transceiver.port,
  }
}

function traffic(flow: FlowView) {
  return {
    'earshot.relay.packets.up': flow.packetsUp,
    'earshot.relay.packets.down': flow.packetsDown,
    'earshot.relay.bytes.up': flow.bytesUp,
    'earshot.relay.bytes.down': flow.bytesDown,
  }
}
