/** The relay's spans in a call's trace: when a route was opened, confirmed or recovered. None for a packet. */

import type { Context } from '../../core/index.ts'
import type { Decision } from './pure/decision.ts'
import type { RelayState } from './pure/relay-state.ts'

/** Makes the spans. */
export class FlowSpans {
  readonly #context: Pick<Context, 'tracer' | 'tracing'>
  readonly #locals: RelayState['locals']

  constructor(context: Pick<Context, 'tracer' | 'tracing'>, locals: RelayState['locals']) {
    this.#context = context
    this.#locals = locals
  }

  /** A client's first request went to a transceiver. */
  opened(decision: Decision): void {
    this.#record('relay.flow.open', decision, 0)
  }

  /** A success response came; the span lasts from when the route was opened. */
  confirmed(now: number, decision: Decision): void {
    this.#record('relay.flow.confirm', decision, now - (decision.route?.openedAt ?? now))
  }

  /** The recovery store knew the client; the span lasts as long as the look-up took. */
  recovered(decision: Decision, tookMs: number): void {
    this.#record('relay.flow.recover', decision, tookMs)
  }

  #record(name: string, { flow, route }: Decision, durationMs: number): void {
    if (!flow || !route) return
    const { tracer, tracing } = this.#context
    const endTime = Date.now()
    const attributes = {
      'client.address': flow.client.host,
      'client.port': flow.client.port,
      'earshot.relay.local': this.#locals[flow.local]!.toString(),
      'earshot.relay.transceiver': route.transceiver.toString(),
    }
    const options = { attributes, startTime: endTime - durationMs }
    tracer.startSpan(name, options, tracing.parent(route.session)).end(endTime)
  }
}
