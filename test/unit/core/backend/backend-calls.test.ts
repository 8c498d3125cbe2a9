/** A call with its backend: connected and held in spans of its trace, which are marked when it fails, and counted. */

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { BackendCalls } from '../../../../core/backend/backend-calls.ts'
import { callIds } from '../../../../core/call-ids.ts'
import { EdgeError } from '../../../../core/errors.ts'
import { createTelemetry, type Telemetry } from '../../../../core/telemetry.ts'
import { FakeCall } from '../../../../core/testing/fake-call.ts'

let exporter: InMemorySpanExporter
let telemetry: Telemetry
let call: FakeCall

beforeEach(() => {
  exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  telemetry = createTelemetry({ version: '1', env: {}, spanProcessors })
  call = new FakeCall('opus')
})

afterEach(async () => {
  call.close()
  await telemetry.close(1000)
})

function calls(url = 'wss://user:word@backend.example/secret?key=1'): BackendCalls {
  const context = {
    tracer: telemetry.tracer('test'),
    tracing: telemetry.tracing,
    meter: telemetry.meter('test'),
  }
  return new BackendCalls(context, 'earshot.some_bridge', url)
}

function spans(): ReadableSpan[] {
  return exporter.getFinishedSpans()
}

/** The value of a metric, by the beginning of its line. */
async function metric(line: string): Promise<number | undefined> {
  const found = (await telemetry.metricsText()).split('\n').find((one) => one.startsWith(line))
  return found === undefined ? undefined : Number(found.split(' ').at(-1))
}

describe('a call with its backend', () => {
  it('is connected, then held: a span each in its trace, which names the server and no secret', async () => {
    const order: unknown[] = []
    await calls().serve(
      call,
      async () => {
        order.push('connected')
        return 'a connection'
      },
      async (connection) => void order.push(connection, await metric('earshot_some_bridge_conversations')),
    )
    assert.deepEqual(order, ['connected', 'a connection', 1])
    const { traceId, spanId } = callIds(call.traceSession)
    assert.deepEqual(
      spans().map(({ name, parentSpanContext, kind, status, attributes }) => ({
        name,
        parent: parentSpanContext?.spanId,
        kind,
        status: status.code,
        attributes,
      })),
      ['bridge.connect', 'bridge.session'].map((name) => ({
        name,
        parent: spanId,
        kind: SpanKind.CLIENT,
        status: SpanStatusCode.UNSET,
        attributes: { 'server.address': 'backend.example', 'server.port': 443 },
      })),
    )
    for (const span of spans()) assert.equal(span.spanContext().traceId, traceId)
    assert.equal(await metric('earshot_some_bridge_conversations'), 0)
    assert.equal(await metric('earshot_some_bridge_connect_duration_seconds_count'), 1)
    assert.equal(await metric('earshot_some_bridge_failures'), undefined)
  })

  it('that cannot be had fails: the span says so, and it is counted by its code', async () => {
    const fault = new EdgeError('bridge_timeout', 'too late')
    const served = calls('ws://127.0.0.1:9000/').serve(
      call,
      () => Promise.reject(fault),
      () => assert.fail('there is nothing to hold'),
    )
    await assert.rejects(served, fault)
    const [span, ...others] = spans()
    assert.deepEqual(others, [])
    assert.deepEqual(span?.status, { code: SpanStatusCode.ERROR, message: 'too late' })
    assert.deepEqual(span?.attributes, {
      'server.address': '127.0.0.1',
      'server.port': 9000,
      'error.type': 'bridge_timeout',
    })
    assert.equal(await metric('earshot_some_bridge_failures_total{code="bridge_timeout"'), 1)
    assert.equal(await metric('earshot_some_bridge_connect_duration_seconds_count'), undefined)
  })

  it('that breaks off with anything but our own error is counted as internal', async () => {
    const bridge = calls('ws://backend.example/')
    const served = bridge.serve(
      call,
      async () => 1,
      () => Promise.reject(new TypeError('no')),
    )
    await assert.rejects(served, TypeError)
    assert.equal(spans().at(-1)?.name, 'bridge.session')
    assert.equal(spans().at(-1)?.status.message, 'no')
    assert.equal(spans().at(-1)?.attributes['server.port'], 80)
    assert.equal(await metric('earshot_some_bridge_failures_total{code="internal"'), 1)
    assert.equal(await metric('earshot_some_bridge_conversations'), 0)
  })

  it('that is over before it is connected is no conversation, and no failure', async () => {
    await calls().serve(
      call,
      async () => undefined,
      () => assert.fail('there is nothing to hold'),
    )
    assert.deepEqual(
      spans().map(({ name }) => name),
      ['bridge.connect'],
    )
    assert.equal(await metric('earshot_some_bridge_connect_duration_seconds_count'), undefined)
    assert.equal(await metric('earshot_some_bridge_failures'), undefined)
  })
})
