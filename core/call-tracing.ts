/** What plugins use to put spans of one call into one trace. The ids follow from the session (DESIGN §4, §11). */

import type { Attributes, Link, Span, Context as TelemetryContext } from '@opentelemetry/api'

/** Starts spans in a call's trace; relay, transceiver, store and bridge agree on the ids without a look-up. */
export interface CallTracing {
  /** Starts the call's root span. One process does so for a session: its transceiver. */
  root(session: Uint8Array, name: string, options?: { attributes?: Attributes; links?: Link[] }): Span
  /** A context whose parent is the call's root span, for `tracer.startSpan(name, options, context)`. */
  parent(session: Uint8Array): TelemetryContext
}
