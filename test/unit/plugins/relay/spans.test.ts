import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { parsePortRange } from '../../../../plugins/relay/pure/allowed-routes.ts'
import { Decision } from '../../../../plugins/relay/pure/decision.ts'
import { Flow, FlowRoute } from '../../../../plugins/relay/pure/flow.ts'
import { OPEN_SPANS_PER_SECOND } from '../../../../plugins/relay/pure/limits.ts'
import { relayState } from '../../../../plugins/relay/pure/relay-state.ts'
import { FlowSpans } from '../../../../plugins/relay/spans.ts'
import { at, CLIENT, T1 } from './simulated-relay.ts'

const SESSION = Buffer.from('session1')
const PUBLIC = at('203.0.113.10:3478')

function setUp(env: Record<string, string> = {}) {
  const exporter = new InMemorySpanExporter()
  const telemetry = createTelemetry({
    version: '0',
    env,
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  })
  const context = { tracer: telemetry.tracer('relay'), tracing: telemetry.tracing }
  return { spans: new FlowSpans(context, [PUBLIC]), made: () => exporter.getFinishedSpans() }
}

function opened(now: number): { flow: Flow; route: FlowRoute; decision: Decision } {
  const flow = new Flow(0, at(CLIENT), 0, now, now + 5000)
  const route = new FlowRoute('pending', at(T1), SESSION, now, now + 5000)
  flow.routes.push(route)
  const decision = new Decision()
  decision.note('opened', flow, route)
  return { flow, route, decision }
}

const ms = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1000 + nanoseconds / 1e6

test('a confirmed flow’s life is a span when it ends, with what went through it', () => {
  const { spans, made } = setUp()
  const now = performance.now()
  const { flow, route, decision } = opened(now)
  spans.opened(now, decision)
  spans.confirmed(now + 12, decision)
  route.state = 'live'
  flow.isConfirmed = true
  flow.packetsUp = 50
  flow.bytesDown = 700
  spans.ended(now + 40_000, flow)
  const [open, confirm, life] = made()
  assert.deepEqual(
    [open, confirm, life].map((span) => span?.name),
    ['relay.flow.open', 'relay.flow.confirm', 'relay.flow'],
  )
  assert.ok(Math.abs(ms(confirm!.endTime) - ms(confirm!.startTime) - 12) < 0.01)
  assert.ok(Math.abs(ms(life!.endTime) - ms(life!.startTime) - 40_000) < 0.01)
  assert.deepEqual(life?.attributes, {
    'client.address': '198.51.100.7',
    'client.port': at(CLIENT).port,
    'network.transport': 'udp',
    'network.type': 'ipv4',
    'network.local.address': '203.0.113.10',
    'network.local.port': 3478,
    'server.address': at(T1).host,
    'server.port': 3479,
    'earshot.relay.packets.up': 50,
    'earshot.relay.packets.down': 0,
    'earshot.relay.bytes.up': 0,
    'earshot.relay.bytes.down': 700,
  })
})

test('a flow that nobody confirmed leaves no life', () => {
  const { spans, made } = setUp()
  spans.ended(10, opened(0).flow)
  assert.deepEqual(made(), [])
})

test('a flood of first requests makes so many spans, and the rest is counted', () => {
  const { spans, made } = setUp()
  const { decision } = opened(0)
  for (let i = 0; i < 5000; i++) spans.opened(i / 100, decision)
  assert.equal(made().length, OPEN_SPANS_PER_SECOND)
  assert.equal(spans.budget.leftOut.opened, 5000 - OPEN_SPANS_PER_SECOND)
  spans.confirmed(50, decision)
  assert.equal(made().at(-1)?.name, 'relay.flow.confirm')
})

test('where spans go nowhere none is counted as left out', () => {
  const telemetry = createTelemetry({ version: '0', env: {} })
  const spans = new FlowSpans({ tracer: telemetry.tracer('relay'), tracing: telemetry.tracing }, [PUBLIC])
  for (let i = 0; i < 500; i++) spans.opened(0, opened(0).decision)
  assert.equal(spans.budget.leftOut.opened, 0)
})

test('the relay closes: its confirmed flows end as spans', () => {
  const { spans, made } = setUp()
  const { flow, route } = opened(0)
  route.state = 'live'
  flow.isConfirmed = true
  spans.closing(5, { page: () => ({ flows: [flow, opened(0).flow] }) })
  assert.deepEqual(
    made().map(({ name }) => name),
    ['relay.flow'],
  )
})

test('the state tells of each flow that ends, while its routes are still there', () => {
  const told: [confirmed: boolean, routes: number][] = []
  const state = relayState({
    codec: { encode: () => '', decode: () => undefined },
    locals: [PUBLIC],
    maxFlows: 8,
    seed: 1,
    cluster: 1,
    cidrs: ['10.0.0.0/24'],
    ports: parsePortRange('3479')!,
    own: [],
    onFlowEnd: (flow) => told.push([flow.isConfirmed, flow.routes.length]),
  })
  const flow = state.flows.open(0, 0, at(CLIENT), true)!
  flow.routes.push(new FlowRoute('live', at(T1), SESSION, 0, 5000))
  state.flows.confirm(0, flow)
  state.flows.sweep(29_999, 10)
  assert.deepEqual(told, [])
  state.flows.sweep(30_000, 10)
  assert.deepEqual(told, [[true, 1]])
  assert.equal(flow.routes.length, 0)
})
