/** What plugins use to put spans of one call into one trace. The ids follow from the session. */

import { hash } from 'node:crypto'
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

/** What a log line about a call carries, so that its trace is found from the line. */
export function traceFields(session: Uint8Array): { trace_id: string; span_id: string } {
  const { traceId, spanId } = callIds(session)
  return { trace_id: traceId, span_id: spanId }
}

/** The trace id and the root span's id of a session, in lower-case hex. */
export function callIds(session: Uint8Array): { traceId: string; spanId: string } {
  return { traceId: digest('trace', session, 16), spanId: digest('span', session, 8) }
}

function digest(label: string, session: Uint8Array, bytes: number): string {
  return hash('sha256', Buffer.concat([Buffer.from(label), session]), 'hex').slice(0, bytes * 2)
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
