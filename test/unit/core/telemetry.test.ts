import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { diag } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTelemetry, reportTelemetryFaults } from '../../../core/telemetry.ts'
import { eventually } from '../../../core/testing/check.ts'
import { recordedLog } from './host-fixture.ts'

const SESSION = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const hex = (label: string, bytes: number): string =>
  createHash('sha256')
    .update(label)
    .update(SESSION)
    .digest('hex')
    .slice(0, bytes * 2)

function recorded(env: Record<string, string> = {}) {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  return { exporter, telemetry: createTelemetry({ version: '1.2.3', env, spanProcessors }) }
}

test("a call's spans share the session's trace id, and the root has the session's span id", () => {
  const { exporter, telemetry } = recorded()
  const root = telemetry.tracing.root(SESSION, 'call', { attributes: { a: 1 } })
  const child = telemetry.tracer('relay').startSpan('relay.flow', {}, telemetry.tracing.parent(SESSION))
  child.end()
  root.end()
  const [first, second] = exporter.getFinishedSpans()
  assert.equal(second?.spanContext().traceId, hex('trace', 16))
  assert.equal(second?.spanContext().spanId, hex('span', 8))
  assert.equal(second?.parentSpanContext, undefined)
  assert.equal(second?.attributes.a, 1)
  assert.equal(first?.spanContext().traceId, hex('trace', 16))
  assert.equal(first?.parentSpanContext?.spanId, hex('span', 8))
  assert.notEqual(first?.spanContext().spanId, hex('span', 8))
  assert.equal(second?.resource.attributes['service.name'], 'earshot')
  assert.equal(second?.resource.attributes['service.version'], '1.2.3')
})

test('a span after a root has random ids again', () => {
  const { telemetry } = recorded()
  telemetry.tracing.root(SESSION, 'call').end()
  const other = telemetry.tracer('x').startSpan('other').spanContext()
  assert.notEqual(other.traceId, hex('trace', 16))
  assert.notEqual(other.spanId, hex('span', 8))
})

test('every process decides alike whether a call is sampled', () => {
  const { exporter, telemetry } = recorded({
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.5',
  })
  const sampled = (session: Uint8Array): boolean[] => {
    exporter.reset()
    telemetry.tracing.root(session, 'root').end()
    telemetry.tracer('x').startSpan('child', {}, telemetry.tracing.parent(session)).end()
    const names = exporter.getFinishedSpans().map(({ name }) => name)
    return [names.includes('root'), names.includes('child')]
  }
  const outcomes = Array.from({ length: 64 }, (_, i) => sampled(Uint8Array.of(i, 0, 0, 0, 0, 0, 0, 0)))
  for (const [root, child] of outcomes) assert.equal(root, child)
  assert.ok(outcomes.some(([root]) => root) && outcomes.some(([root]) => !root))
})

test('without a collector spans cost nothing and still carry ids for the log', () => {
  const telemetry = createTelemetry({ version: '1', env: {} })
  const span = telemetry.tracing.root(SESSION, 'call')
  assert.equal(span.isRecording(), false)
  assert.equal(span.spanContext().traceId, hex('trace', 16))
})

test('metrics come as Prometheus text', async () => {
  const telemetry = createTelemetry({ version: '1', env: {} })
  telemetry.meter('relay').createCounter('earshot.relay.packets', { description: 'packets' }).add(2)
  telemetry.meter('relay').createHistogram('earshot.call.seconds').record(1)
  const text = await telemetry.metricsText()
  assert.match(text, /^# TYPE earshot_relay_packets_total counter$/m)
  assert.match(text, /^earshot_relay_packets_total\{otel_scope_name="relay"\} 2$/m)
  assert.match(text, /^earshot_call_seconds_count\{otel_scope_name="relay"\} 1$/m)
})

for (const how of ['otlp', 'env'] as const) {
  test(`a collector named by ${how === 'otlp' ? 'the config' : 'OTEL_EXPORTER_OTLP_ENDPOINT'} gets the last spans and metrics at close`, async () => {
    const paths: string[] = []
    const collector = createServer((request, response) => {
      paths.push(request.url ?? '')
      request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
    }).listen(0, '127.0.0.1')
    await once(collector, 'listening')
    const bound = collector.address()
    assert.ok(bound && typeof bound === 'object')
    const url = `http://127.0.0.1:${bound.port}`
    // The exporters read the process's own environment.
    if (how === 'env') process.env.OTEL_EXPORTER_OTLP_ENDPOINT = url
    const telemetry = createTelemetry({
      version: '1',
      env: process.env,
      otlp: how === 'otlp' ? url : undefined,
    })
    telemetry.tracing.root(SESSION, 'call').end()
    telemetry.meter('x').createCounter('earshot.y').add(1)
    await telemetry.close(10_000)
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    assert.deepEqual(paths.sort(), ['/v1/metrics', '/v1/traces'])
    collector.close()
  })
}

test('a span leaves soon, and what the exporter did is counted', async () => {
  const came = Promise.withResolvers<unknown>()
  const collector = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
    came.resolve(request.url)
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const bound = collector.address()
  assert.ok(bound && typeof bound === 'object')
  const env = { OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_SCHEDULE_DELAY: '1' }
  const telemetry = createTelemetry({
    version: '1',
    env,
    otlp: `http://127.0.0.1:${bound.port}`,
    plugins: ['a'],
  })
  telemetry.tracing.root(SESSION, 'call').end()
  assert.equal(await came.promise, '/v1/traces')
  await eventually('it is counted', async () =>
    /^otel_sdk_processor_span_processed_total\{.*\} 1$/m.test(await telemetry.metricsText()),
  )
  assert.match(await telemetry.metricsText(), /^target_info\{.*service_instance_id="[0-9a-f-]{36}"/m)
  await telemetry.close(1000)
  collector.close()
})

test('a collector that does not answer does not hold the process up', async () => {
  const held: (() => void)[] = []
  const collector = createServer((request, response) => {
    request.resume()
    held.push(() => response.setHeader('content-type', 'application/json').end('{}'))
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const bound = collector.address()
  assert.ok(bound && typeof bound === 'object')
  const telemetry = createTelemetry({ version: '1', env: {}, otlp: `http://127.0.0.1:${bound.port}` })
  telemetry.tracing.root(SESSION, 'call').end()
  const asked = once(collector, 'request')
  await telemetry.close(20)
  await asked
  for (const answer of held) answer()
  collector.close()
})

test('what the SDK complains of reaches the log, an error by its message alone', () => {
  const { log, entries } = recordedLog()
  reportTelemetryFaults(log)
  diag.error(
    JSON.stringify({ stack: 'Error: connect ECONNREFUSED\n    at x', message: 'connect ECONNREFUSED' }),
  )
  diag.warn('{ no JSON')
  diag.disable()
  assert.deepEqual(
    entries.map(({ detail }) => detail),
    ['connect ECONNREFUSED', '{ no JSON'],
  )
})
