import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTelemetry } from '../../../../core/telemetry.ts'
import type { Path } from '../../../../plugins/transceiver/ice/path.ts'
import { SessionTrace } from '../../../../plugins/transceiver/session-trace.ts'
import { address } from './ice/support.ts'

const SESSION = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const STARTED_AT = performance.now()
const TRACE = 'a'.repeat(32)
const SPAN = 'b'.repeat(16)

function pathFrom(client: string): Path {
  return { relay: undefined, local: address('192.0.2.1:3478'), client: address(client) }
}

const ms = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1000 + nanoseconds / 1e6

function traced(
  traceparent?: string,
  exporter = new InMemorySpanExporter(),
): { trace: SessionTrace; spans: () => Map<string, ReadableSpan> } {
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  const telemetry = createTelemetry({ version: '1', env: {}, spanProcessors })
  const trace = new SessionTrace({
    tracer: telemetry.tracer('transceiver'),
    tracing: telemetry.tracing,
    session: SESSION,
    attributes: { 'earshot.caller': 'alice' },
    startedAt: STARTED_AT,
    traceparent,
  })
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
    assert.deepEqual([...all.keys()], ['ice.connect', 'call.end', 'call'])
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
    const trace = new SessionTrace({
      tracer: counting,
      tracing,
      session: SESSION,
      attributes: {},
      startedAt: STARTED_AT,
    })
    trace.offered()
    trace.start('bridge')
    trace.firstAudio('audio.sent')
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
    trace.start('bridge').start('bridge.open')
    trace.end('bridge', 'bridge_failed')
    trace.finish('bridge_failed', true)
    assert.equal(spans().get('bridge.open')?.attributes['error.type'], 'bridge_failed')
    assert.equal(spans().get('bridge')?.attributes['error.type'], 'bridge_failed')
    assert.deepEqual(spans().get('bridge')?.status, { code: SpanStatusCode.ERROR, message: 'bridge_failed' })
  })

  it('tells of the offer at once, and of how long it took', () => {
    const { trace, spans } = traced()
    trace.offered()
    const offer = spans().get('call.offer')!
    assert.equal(spans().has('call'), false)
    assert.ok(ms(offer.endTime) >= ms(offer.startTime))
    assert.equal(offer.attributes['earshot.caller'], 'alice')
    trace.finish('hang_up', false)
    assert.equal(ms(spans().get('call')!.startTime), ms(offer.startTime))
  })

  it('has the first audio of each direction as an event and a span with the same end', () => {
    const { trace, spans } = traced()
    trace.start('dtls.handshake')
    trace.end('dtls.handshake')
    for (let n = 0; n < 3; n++) trace.firstAudio('audio.sent')
    trace.firstAudio('audio.received')
    trace.finish('x', false)
    const { events } = spans().get('call')!
    assert.deepEqual(
      events.map(({ name }) => name),
      ['audio.sent', 'audio.received'],
    )
    for (const { name, time } of events) {
      const span = spans().get(name)!
      assert.equal(ms(span.endTime), ms(time))
      assert.equal(ms(span.startTime), ms(spans().get('dtls.handshake')!.endTime))
    }
  })

  it('says where the client is, and each of its moves up to a bound', () => {
    const exporter = new InMemorySpanExporter()
    const { trace } = traced(undefined, exporter)
    trace.start('ice.connect')
    for (let port = 1000; port < 1100; port++) trace.selected(pathFrom(`198.51.100.7:${port}`))
    trace.finish('x', false)
    const all = exporter.getFinishedSpans()
    const connect = all.find(({ name }) => name === 'ice.connect')!
    assert.equal(connect.attributes['client.address'], '198.51.100.7')
    assert.equal(connect.attributes['client.port'], 1000)
    assert.equal(connect.attributes['network.local.port'], 3478)
    const moves = all.filter(({ name }) => name === 'ice.move')
    assert.equal(moves.length, 32)
    assert.equal(moves[0]!.attributes['earshot.client.previous'], '198.51.100.7:1000')
    assert.equal(all.at(-1)!.attributes['client.port'], 1099)
  })

  it('notes what happens once, of which there may be only so much', () => {
    const { trace, spans } = traced()
    for (let n = 0; n < 3; n++) trace.once('data channel: odd')
    for (let n = 0; n < 100; n++) trace.once(`data channel: ${n}`)
    trace.finish('x', false)
    assert.equal(spans().get('call')?.events.length, 32)
  })

  it('tells the metrics how long each stage took, sampled or not', () => {
    const told: unknown[] = []
    const timings = {
      offer: () => told.push('offer'),
      stage: (stage: string, duration: number, fault?: string) => told.push([stage, duration >= 0, fault]),
      firstAudio: (which: string) => told.push(which),
    }
    const env = { OTEL_TRACES_SAMPLER: 'always_off' }
    const telemetry = createTelemetry({ version: '1', env })
    const trace = new SessionTrace({
      tracer: telemetry.tracer('transceiver'),
      tracing: telemetry.tracing,
      session: SESSION,
      attributes: {},
      startedAt: STARTED_AT,
      timings,
    })
    trace.offered()
    trace.start('dtls.handshake')
    trace.firstAudio('audio.sent')
    trace.firstAudio('audio.sent')
    trace.finish('dtls_failed', true)
    assert.deepEqual(told, [
      'offer',
      'audio.sent',
      ['dtls.handshake', true, 'dtls_failed'],
      ['call.end', true, undefined],
    ])
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
