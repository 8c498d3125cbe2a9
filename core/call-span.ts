/** A piece of a call as a span in the call's trace. */

import type { SpanOptions, SpanStatusCode } from '@opentelemetry/api'
import type { BridgeCall } from './contracts/inference-bridge.ts'
import { EdgeError } from './errors.ts'
import type { Context } from './plugin.ts'

/** By its number, since plugins' door leads past this file and most of what uses that makes no span. */
const ERROR: SpanStatusCode.ERROR = 2

/**
 * Runs a piece of a call in a span, below the call's own. When it rejects, the span is marked as failed, with the message
 * and, of an EdgeError, the code as `error.type`; the rejection is passed on.
 */
export async function inCallSpan<T>(
  { tracer, tracing }: Pick<Context, 'tracer' | 'tracing'>,
  call: Pick<BridgeCall, 'traceSession'>,
  name: string,
  run: () => Promise<T>,
  options: SpanOptions = {},
): Promise<T> {
  const span = tracer.startSpan(name, options, tracing.parent(call.traceSession))
  try {
    return await run()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    span.setStatus({ code: ERROR, message })
    if (error instanceof EdgeError) span.setAttribute('error.type', error.code)
    throw error
  } finally {
    span.end()
  }
}
