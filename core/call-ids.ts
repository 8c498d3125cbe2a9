/**
 * What a call is known by in traces, from its session's bytes alone: whoever knows those finds the trace without a
 * look-up, and neither leads back to them. Pure.
 */

import { hash } from 'node:crypto'

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
