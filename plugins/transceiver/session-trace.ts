/**
 * The spans of one call at its seams: offer, ICE, DTLS, bridge, first audio each way, end. All in the call's own trace,
 * and each leaves as soon as it is over: only the root waits for the call's end. The seams' durations go to the
 * metrics too, sampled or not.
 */

import type { Attributes, Context, Link, Span, Tracer } from '@opentelemetry/api'
import { SpanStatusCode } from '@opentelemetry/api'
import { type CallTracing, clientAttributes, readTraceparent, wallTime } from '../../core/index.ts'
import type { CallTimings } from './call-timings.ts'
import type { Path } from './ice/path.ts'
import type { CallRequest } from './signaling/call-service.ts'

/** A stage of a call that has a span of its own. */
export type Stage = 'ice.connect' | 'dtls.handshake' | 'bridge' | 'bridge.open' | 'call.end'

/** The first audio packet of each direction. */
export type FirstAudio = 'audio.received' | 'audio.sent'

/** Moves of one client that get a span: a client that flaps fills no collector. */
const MAX_MOVES = 32
/** Different notes that one call gets. */
const MAX_NOTES = 32

/** What a session's trace is made of. */
export interface SessionTraceOptions {
  readonly tracer: Tracer
  readonly tracing: CallTracing
  readonly session: Uint8Array
  readonly attributes: Attributes
  /** When the offer came, on the monotonic clock. */
  readonly startedAt: number
  /** The caller's own trace context, as it was sent. */
  readonly traceparent?: string | undefined
  readonly timings?: Pick<CallTimings, 'offer' | 'stage' | 'firstAudio'> | undefined
}

interface OpenStage {
  readonly startedAt: number
  readonly span: Span | undefined
}

/** The trace of a call that was asked for at `askedAt` on the monotonic clock. */
export function startTrace(
  on: Pick<SessionTraceOptions, 'tracer' | 'tracing' | 'timings'>,
  request: CallRequest,
  session: Uint8Array,
  askedAt: number,
): SessionTrace {
  const attributes = {
    'session.id': Buffer.from(session).toString('hex'),
    'earshot.caller': request.caller.name,
    ...(request.model === undefined ? {} : { 'gen_ai.request.model': request.model }),
  }
  const { tracer, tracing, timings } = on
  const { traceparent } = request
  return new SessionTrace({ tracer, tracing, timings, session, attributes, startedAt: askedAt, traceparent })
}

/**
 * One call's root span and its stages. Every method may be called in any state; none throws. Where the call's trace is
 * not sampled, which goes for all of it, no further spans are made.
 */
export class SessionTrace {
  readonly #o: SessionTraceOptions
  readonly #root: Span
  readonly #isRecorded: boolean
  readonly #links: Link[]
  readonly #open = new Map<Stage, OpenStage>()
  readonly #marked = new Set<string>()
  #parent: Context | undefined
  #connectedAt: number
  #moves = 0
  #path: Path | undefined

  constructor(options: SessionTraceOptions) {
    const { tracing, session, attributes, startedAt, traceparent } = options
    this.#o = options
    this.#connectedAt = startedAt
    this.#links = callerLink(traceparent)
    const startTime = wallTime(startedAt)
    this.#root = tracing.root(session, 'call', { attributes, links: this.#links, startTime })
    this.#isRecorded = this.#root.isRecording()
  }

  /** The offer has been read and its answer written. */
  offered(): void {
    const now = performance.now()
    this.#o.timings?.offer(now - this.#o.startedAt)
    this.#span('call.offer', this.#o.startedAt, this.#o.attributes, this.#links)?.end(wallTime(now))
  }

  /** Starts a stage; a second start of the same is ignored. */
  start(stage: Stage): this {
    if (this.#open.has(stage)) return this
    const startedAt = performance.now()
    this.#open.set(stage, { startedAt, span: this.#span(stage, startedAt) })
    return this
  }

  /** Ends a stage that was started; `fault` marks it failed. */
  end(stage: Stage, fault?: string, attributes?: Attributes): void {
    const open = this.#open.get(stage)
    if (!open) return
    this.#open.delete(stage)
    // A bridge that ends before it took the call up.
    if (stage === 'bridge') this.end('bridge.open', fault)
    const now = performance.now()
    if (stage === 'dtls.handshake') this.#connectedAt = now
    this.#o.timings?.stage(stage, now - open.startedAt, fault)
    if (fault !== undefined) fail(open.span, fault)
    if (attributes) open.span?.setAttributes(attributes)
    open.span?.end(wallTime(now))
  }

  /** Media goes this way now. The first time ICE has connected; later the client has moved. */
  selected(path: Path): void {
    const attributes = this.#isRecorded ? clientAttributes(path.client, path.local) : undefined
    if (attributes) this.#root.setAttributes(attributes)
    const from = this.#path?.client.toString()
    this.#path = path
    if (from === undefined) this.end('ice.connect', undefined, attributes)
    else if (this.#isRecorded && this.#moves++ < MAX_MOVES) {
      const now = performance.now()
      this.#span('ice.move', now, { ...attributes, 'earshot.client.previous': from })?.end(wallTime(now))
    }
  }

  /** The first audio packet went this way: an event of the call, and a span that lasts from the keys until now. */
  firstAudio(which: FirstAudio): void {
    if (this.#marked.has(which)) return
    const now = performance.now()
    this.#o.timings?.firstAudio(which, now - this.#o.startedAt)
    this.once(which, now)
    this.#span(which, this.#connectedAt)?.end(wallTime(now))
  }

  /** Notes something that happens once in a call. */
  once(name: string, now = performance.now()): void {
    if (this.#marked.has(name) || this.#marked.size >= MAX_NOTES) return
    this.#marked.add(name)
    this.#root.addEvent(name, wallTime(now))
  }

  /** Ends the call's span, and every stage still open; of a call that failed, those of connecting have failed too. */
  finish(reason: string, failed: boolean): void {
    this.start('call.end')
    for (const stage of [...this.#open.keys()]) {
      const isConnecting = stage === 'ice.connect' || stage === 'dtls.handshake'
      if (stage === 'call.end') this.end(stage, undefined, { 'earshot.call.end_reason': reason })
      else this.end(stage, failed && isConnecting ? reason : undefined)
    }
    this.#root.setAttribute('earshot.call.end_reason', reason)
    if (failed) fail(this.#root, reason)
    this.#root.end(wallTime(performance.now()))
  }

  #span(name: string, startedAt: number, attributes: Attributes = {}, links: Link[] = []): Span | undefined {
    if (!this.#isRecorded) return undefined
    const { tracer, tracing, session } = this.#o
    this.#parent ??= tracing.parent(session)
    return tracer.startSpan(name, { attributes, links, startTime: wallTime(startedAt) }, this.#parent)
  }
}

function fail(span: Span | undefined, fault: string): void {
  span?.setAttribute('error.type', fault)
  span?.setStatus({ code: SpanStatusCode.ERROR, message: fault })
}

/** A link to the caller's own trace. */
function callerLink(traceparent: string | undefined): Link[] {
  const context = readTraceparent(traceparent)
  return context ? [{ context }] : []
}
