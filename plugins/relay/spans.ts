/**
 * The relay's spans in a call's trace: when a route was opened, confirmed or recovered, and its flow's whole life when
 * it ends. None for a packet, and no more a second than `SpanBudget` allows. The relay knows a call by the session in
 * its ufrag alone; the trace follows from that.
 */

import { type Address, type Context, wallTime } from '../../core/index.ts'
import type { Decision } from './pure/decision.ts'
import type { Flow, FlowRoute } from './pure/flow.ts'
import { SpanBudget, type SpanKind } from './pure/span-budget.ts'

/** Flows that still get a span when the relay closes. */
const LAST_FLOWS = 500

/** Makes the spans. */
export class FlowSpans {
  readonly budget = new SpanBudget()
  readonly #context: Pick<Context, 'tracer' | 'tracing'>
  readonly #locals: readonly Address[]

  constructor(context: Pick<Context, 'tracer' | 'tracing'>, locals: readonly Address[]) {
    this.#context = context
    this.#locals = locals
  }

  /** A client's first request went to a transceiver. */
  opened(now: number, { flow, route }: Decision): void {
    if (flow && route) this.#record('opened', 'relay.flow.open', now, now, flow, route)
  }

  /** A success response came; the span lasts from when the route was opened. */
  confirmed(now: number, { flow, route }: Decision): void {
    if (flow && route) this.#record('confirmed', 'relay.flow.confirm', route.openedAt, now, flow, route)
  }

  /** The recovery store knew the client; the span lasts as long as the look-up took. */
  recovered(now: number, { flow, route }: Decision, tookMs: number): void {
    if (flow && route) this.#record('recovered', 'relay.flow.recover', now - tookMs, now, flow, route)
  }

  /** A flow has ended; where it was confirmed, the span is its life, with what went through. */
  ended(now: number, flow: Flow): void {
    if (!flow.isConfirmed) return
    for (const route of flow.routes)
      if (route.state === 'live') this.#record('ended', 'relay.flow', route.openedAt, now, flow, route)
  }

  /** The relay closes: these flows end with it, as far as spans can tell. */
  closing(now: number, flows: { page(from: number, limit: number): { flows: Flow[] } }): void {
    if (!this.#context.tracing.isOn) return
    for (const flow of flows.page(0, LAST_FLOWS).flows) this.ended(now, flow)
  }

  #record(kind: SpanKind, name: string, from: number, to: number, flow: Flow, route: FlowRoute): void {
    const { tracer, tracing } = this.#context
    if (!tracing.isOn || !this.budget.take(to, kind)) return
    const attributes = { ...addresses(flow, this.#locals[flow.local]!, route), ...traffic(kind, flow) }
    const options = { attributes, startTime: wallTime(from) }
    tracer.startSpan(name, options, tracing.parent(route.session)).end(wallTime(to))
  }
}

function addresses({ client }: Flow, local: Address, { transceiver }: FlowRoute) {
  return {
    'client.address': client.host,
    'client.port': client.port,
    'network.transport': 'udp',
    'network.type': client.isIPv4 ? 'ipv4' : 'ipv6',
    'network.local.address': local.host,
    'network.local.port': local.port,
    'server.address': transceiver.host,
    'server.port': transceiver.port,
  }
}

function traffic(kind: SpanKind, flow: Flow) {
  if (kind !== 'ended') return {}
  return {
    'earshot.relay.packets.up': flow.packetsUp,
    'earshot.relay.packets.down': flow.packetsDown,
    'earshot.relay.bytes.up': flow.bytesUp,
    'earshot.relay.bytes.down': flow.bytesDown,
  }
}
