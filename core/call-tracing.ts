/** What plugins use to put spans of one call into one trace. The ids follow from the session. */

import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Context as TelemetryContext,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace'
import { callIds } from './call-ids.ts'
import { randomBytes } from './random.ts'

/** What a root span begins with; the time in milliseconds since 1970. */
export interface RootOptions {
  readonly attributes?: Attributes
  readonly links?: Link[]
  readonly startTime?: number
}

/** Starts spans in a call's trace; relay, transceiver, store and bridge agree on the ids without a look-up. */
export interface CallTracing {
  /** Starts the call's root span. One process does so for a session: its transceiver. */
  root(session: Uint8Array, name: string, options?: RootOptions): Span
  /** A context whose parent is the call's root span, for `tracer.startSpan(name, options, context)`. */
  parent(session: Uint8Array): TelemetryContext
  /** Whether any span goes anywhere; where not, whoever makes many may spare the work. */
  readonly isOn: boolean
}

/** Random ids, except for the one span that is started while `next` is set. */
export class CallIdGenerator implements IdGenerator {
  next: { traceId: string; spanId: string } | undefined

  generateTraceId(): string {
    return this.next?.traceId ?? randomBytes(16).toString('hex')
  }

  generateSpanId(): string {
    return this.next?.spanId ?? randomBytes(8).toString('hex')
  }
}

/** Call tracing on a tracer whose provider uses `ids`; `sampled` decides by trace id, as the provider's sampler does. */
export function createCallTracing(
  tracer: Tracer,
  ids: CallIdGenerator,
  sampled: (traceId: string) => boolean,
  isOn = true,
): CallTracing {
  return {
    isOn,
    root(session, name, options = {}) {
      ids.next = callIds(session)
      try {
        return tracer.startSpan(name, { ...options, kind: SpanKind.SERVER, root: true }, ROOT_CONTEXT)
      } finally {
        ids.next = undefined
      }
    },
    parent(session) {
      const { traceId, spanId } = callIds(session)
      const traceFlags = sampled(traceId) ? TraceFlags.SAMPLED : TraceFlags.NONE
      return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
    },
  }
}
