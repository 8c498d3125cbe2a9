/** A span for each response of a backend, in the call's trace. */

import { type Span, SpanStatusCode, type Context as TelemetryContext, type Tracer } from '@opentelemetry/api'
import type { JsonObject } from '../../../core/index.ts'
import { objectAt, stringAt } from './pure/json.ts'

/** So many are open at once, at most. */
const MAX_OPEN = 16

/** The turns of one conversation. */
export class Turns {
  readonly #tracer: Tracer
  readonly #parent: TelemetryContext
  readonly #open = new Map<string, Span>()

  constructor(tracer: Tracer, parent: TelemetryContext) {
    this.#tracer = tracer
    this.#parent = parent
  }

  /** Takes note of each event of the backend's. */
  note(event: JsonObject): void {
    if (event.type === 'response.created') this.#begin(stringAt(objectAt(event, 'response'), 'id'))
    else if (event.type === 'response.done') this.#end(objectAt(event, 'response'))
  }

  /** The conversation is over. */
  close(): void {
    for (const span of this.#open.values()) span.end()
    this.#open.clear()
  }

  #begin(id: string): void {
    if (this.#open.has(id) || this.#open.size >= MAX_OPEN) return
    const attributes = { 'earshot.response': id }
    this.#open.set(id, this.#tracer.startSpan('bridge.turn', { attributes }, this.#parent))
  }

  #end(response: JsonObject): void {
    const id = stringAt(response, 'id')
    const span = this.#open.get(id)
    if (!span) return
    this.#open.delete(id)
    const status = stringAt(response, 'status')
    span.setAttribute('earshot.response.status', status)
    if (status === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  }
}
