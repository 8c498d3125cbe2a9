/** The trace context that comes with a request (W3C Trace Context §3.2). Pure. */

import type { SpanContext } from '@opentelemetry/api'

/** What a `traceparent` header names, of version 00; undefined for what is none, and for ids of nothing but zeros. */
export function readTraceparent(header: unknown): SpanContext | undefined {
  if (typeof header !== 'string') return undefined
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header)
  if (!match) return undefined
  const [, traceId, spanId, flags] = match
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined
  return { traceId: traceId!, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16), isRemote: true }
}
