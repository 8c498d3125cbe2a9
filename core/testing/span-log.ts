/** A tracer that remembers: which spans were begun, in whose trace, and whether they were ended. */

import {
  type Context,
  createContextKey,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { CallTracing } from '../call-tracing.ts'

/** What is known of a span. */
export interface RecordedSpan {
  readonly name: string
  /** The hex of the trace session that its parent belongs to; undefined outside of any call. */
  readonly session: string | undefined
  ended: boolean
}

const SESSION = createContextKey('the session of an earshot call')

/** Gives a plugin its tracer and the calls' traces, and remembers. */
export class SpanLog {
  readonly spans: RecordedSpan[] = []
  readonly tracer: Tracer = {
    startSpan: (name, options, context) => this.#start(name, options, context),
    startActiveSpan: (name: string, ...rest: unknown[]) => {
      const run = rest.at(-1)
      const context = rest.length > 2 ? rest[1] : undefined
      if (typeof run !== 'function') throw new TypeError('startActiveSpan was given nothing to run')
      return run(this.#start(name, undefined, isContext(context) ? context : undefined))
    },
  }
  readonly tracing: CallTracing = {
    root: (session, name) => this.#start(name, undefined, this.#parent(session)),
    parent: (session) => this.#parent(session),
    isOn: true,
  }

  #parent(session: Uint8Array): Context {
    return ROOT_CONTEXT.setValue(SESSION, Buffer.from(session).toString('hex'))
  }

  #start(name: string, _options: SpanOptions | undefined, context: Context | undefined): Span {
    const session = context?.getValue(SESSION)
    const recorded: RecordedSpan = {
      name,
      session: typeof session === 'string' ? session : undefined,
      ended: false,
    }
    this.spans.push(recorded)
    const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
    span.end = () => {
      recorded.ended = true
    }
    return span
  }
}

function isContext(value: unknown): value is Context {
  return typeof value === 'object' && value !== null && 'getValue' in value
}
