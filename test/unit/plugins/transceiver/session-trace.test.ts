import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { SessionTrace } from '../../../../plugins/transceiver/session-trace.ts'

const SESSION = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const TRACE = 'a'.repeat(32)
const SPAN = 'b'.repeat(16)

function traced(traceparent?: string): { trace: SessionTrace; spans: () => Map<string, ReadableSpan> } {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const telemetry = createTelemetry({ version: '1', env: {}, spanProcessors })
  const tracer = telemetry.tracer('transceiver')
  const trace = new SessionTrace(
    tracer,
    telemetry.tracing,
    SESSION,
    { 'earshot.caller': 'alice' },
    traceparent,
  )
  return { trace, spans: () => new Map(exporter.getFinishedSpans().map((span) => [span.name, span])) }
}

describe("a session's trace", () => {
  it('has each stage once, below the call, in one trace', () => {
    const { trace, spans } = traced()
    trace.start('ice.connect')
    trace.start('ice.connect')
    trace.end('ice.connect')
    trace.end('ice.connect')
    trace.end('dtls.handshake')
    trace.finish('hang_up', false)
    const all = spans()
    assert.deepEqual([...all.keys()], ['ice.connect', 'call'])
    const call = all.get('call')!
    assert.equal(all.get('ice.connect')!.parentSpanContext?.spanId, call.spanContext().spanId)
    assert.equal(all.get('ice.connect')!.spanContext().traceId, call.spanContext().traceId)
    assert.deepEqual(call.attributes, { 'earshot.caller': 'alice', 'earshot.call.end_reason': 'hang_up' })
    assert.equal(call.status.code, SpanStatusCode.UNSET)
  })

  it('makes no span for a stage of a call that is not sampled', () => {
    const exporter = new InMemorySpanExporter()
    const spanProcessors = [new SimpleSpanProcessor({ exporter })]
    const env = { OTEL_TRACES_SAMPLER: 'always_off' }
    const { tracing, tracer } = createTelemetry({ version: '1', env, spanProcessors })
    const real = tracer('transceiver')
    let made = 0
    const counting: typeof real = {
      startActiveSpan: real.startActiveSpan,
      startSpan: (...all) => {
        made++
        return real.startSpan(...all)
      },
    }
    const trace = new SessionTrace(counting, tracing, SESSION, {})
    trace.start('bridge')
    trace.once('audio.sent')
    trace.end('bridge')
    trace.finish('hang_up', false)
    assert.equal(made, 0)
    assert.deepEqual(exporter.getFinishedSpans(), [])
  })

  it('shows no error in a call that went well, though its bridge was open to the end', () => {
    const { trace, spans } = traced()
    trace.start('bridge')
    trace.finish('peer_closed', false)
    for (const { name, status } of spans().values()) assert.equal(status.code, SpanStatusCode.UNSET, name)
  })

  it('shows where a call failed', () => {
    const { trace, spans } = traced()
    trace.start('bridge')
    trace.start('dtls.handshake')
    trace.finish('connect_timeout', true)
    const status = (name: string) => spans().get(name)?.status
    assert.deepEqual(status('call'), { code: SpanStatusCode.ERROR, message: 'connect_timeout' })
    assert.deepEqual(status('dtls.handshake'), { code: SpanStatusCode.ERROR, message: 'connect_timeout' })
    assert.equal(status('bridge')?.code, SpanStatusCode.UNSET)
  })

  it('shows a stage that failed by itself', () => {
    const { trace, spans } = traced()
    trace.start('bridge')
    trace.end('bridge', 'bridge_failed')
    trace.finish('bridge_failed', true)
    assert.deepEqual(spans().get('bridge')?.status, { code: SpanStatusCode.ERROR, message: 'bridge_failed' })
  })

  it('notes once what happens once', () => {
    const { trace, spans } = traced()
    for (let n = 0; n < 3; n++) trace.once('audio.sent')
    trace.once('audio.received')
    trace.finish('x', false)
    assert.deepEqual(
      spans()
        .get('call')
        ?.events.map(({ name }) => name),
      ['audio.sent', 'audio.received'],
    )
  })

  it("links to the caller's own trace when it names a valid one", () => {
    const linked = (traceparent: string): unknown => {
      const { trace, spans } = traced(traceparent)
      trace.finish('x', false)
      return spans()
        .get('call')
        ?.links.map(({ context }) => [context.traceId, context.spanId, context.traceFlags])
    }
    assert.deepEqual(linked(`00-${TRACE}-${SPAN}-01`), [[TRACE, SPAN, 1]])
    const bad = ['', 'x', `00-${'0'.repeat(32)}-${SPAN}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`]
    for (const traceparent of [...bad, `00-${TRACE}-${SPAN}`, `00-${TRACE.toUpperCase()}-${SPAN}-01`]) {
      assert.deepEqual(linked(traceparent), [], traceparent)
    }
  })
})
