/** The spans of a request that crosses between transceivers, in the trace of its call: one on either side. */

import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { type CallTracing, type Route, readTraceparent } from '../../../core/index.ts'

/** Starts the span of the side that passes on. */
export function startPassOn(tracer: Tracer, tracing: CallTracing, route: Route, method: string): Span {
  const { address } = route
  const attributes = {
    'http.request.method': method,
    'server.address': address.host,
    'server.port': address.port,
  }
  return tracer.startSpan(
    'control.pass_on',
    { kind: SpanKind.CLIENT, attributes },
    tracing.parent(route.session),
  )
}

/** Starts the span of the owner, whose parent is the other's: `traceparent` is a header that was signed. */
export function startServe(tracer: Tracer, traceparent: string | undefined, method: string): Span {
  const attributes = { 'http.request.method': method }
  return tracer.startSpan('control.serve', { kind: SpanKind.SERVER, attributes }, parentOf(traceparent))
}

/** Ends a span with the status that was answered. */
export function endSpan(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** Ends a span whose request was never answered. */
export function failSpan(span: Span, outcome: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: outcome })
  span.end()
}

/** The header that makes a span the parent of another process's (W3C Trace Context §3.2); none where nothing is traced. */
export function traceparentOf(span: Span): { traceparent?: string } {
  const context = span.spanContext()
  if (!trace.isSpanContextValid(context)) return {}
  const flags = context.traceFlags.toString(16).padStart(2, '0')
  return { traceparent: `00-${context.traceId}-${context.spanId}-${flags}` }
}

function parentOf(traceparent: string | undefined): Context {
  const context = readTraceparent(traceparent)
  return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT
}
