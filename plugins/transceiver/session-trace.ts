/** The spans of one call at its seams: offer, ICE, DTLS, first audio each way, end. All in the call's own trace. */

import type { Attributes, Context, Link, Span, Tracer } from '@opentelemetry/api'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import type { CallTracing } from '../../core/index.ts'

/** A stage of a call that has a span of its own. */
export type Stage = 'ice.connect' | 'dtls.handshake' | 'bridge'

/**
 * One call's root span and its stages. Every method may be called in any state; none throws. Where the call's trace is
 * not sampled, which goes for all of it, no further spans are made.
 */
export class SessionTrace {
  readonly #root: Span
  readonly #isRecorded: boolean
  readonly #tracer: Tracer
  readonly #tracing: CallTracing
  readonly #session: Uint8Array
  #parent: Context | undefined
  readonly #open = new Map<Stage, Span>()
  readonly #marked = new Set<string>()

  constructor(
    tracer: Tracer,
    tracing: CallTracing,
    session: Uint8Array,
    attributes: Attributes,
    traceparent?: string,
  ) {
    this.#tracer = tracer
    this.#tracing = tracing
    this.#session = session
    const links = callerLink(traceparent)
    this.#root = tracing.root(session, 'call', { attributes, links })
    this.#isRecorded = this.#root.isRecording()
  }

  /** Starts a stage; a second start of the same is ignored. */
  start(stage: Stage): void {
    if (!this.#isRecorded || this.#open.has(stage)) return
    this.#parent ??= this.#tracing.parent(this.#session)
    this.#open.set(stage, this.#tracer.startSpan(stage, {}, this.#parent))
  }

  /** Ends a stage that was started; `fault` marks it failed. */
  end(stage: Stage, fault?: string): void {
    const span = this.#open.get(stage)
    if (!span) return
    this.#open.delete(stage)
    if (fault !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: fault })
    span.end()
  }

  /** Notes something that happens once in a call, such as the first audio out. */
  once(name: string): void {
    if (!this.#isRecorded || this.#marked.has(name)) return
    this.#marked.add(name)
    this.#root.addEvent(name)
  }

  /** Ends the call's span, and every stage still open; of a call that failed, those of connecting have failed too. */
  finish(reason: string, failed: boolean): void {
    for (const stage of [...this.#open.keys()]) {
      this.end(stage, failed && stage !== 'bridge' ? reason : undefined)
    }
    this.#root.setAttribute('earshot.call.end_reason', reason)
    if (failed) this.#root.setStatus({ code: SpanStatusCode.ERROR, message: reason })
    this.#root.end()
  }
}

/** A link to the caller's own trace, from a W3C traceparent header (Trace Context §3.2). */
function callerLink(traceparent: string | undefined): Link[] {
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '')
  if (!match) return []
  const context = {
    traceId: match[1]!,
    spanId: match[2]!,
    traceFlags: Number.parseInt(match[3]!, 16),
    isRemote: true,
  }
  return trace.isSpanContextValid(context) ? [{ context }] : []
}
