import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { Decision } from '../../../../plugins/relay/pure/decision.ts'
import { FlowView, RouteView } from '../../../../plugins/relay/pure/flow-view.ts'
import { OPEN_SPANS_PER_SECOND } from '../../../../plugins/relay/pure/limits.ts'
import { FlowSpans } from '../../../../plugins/relay/spans.ts'
import { at, CLIENT, SimulatedRelay, T1 } from './simulated-relay.ts'

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
  return { spans: new FlowSpans(context), made: () => exporter.getFinishedSpans() }
}

function opened(): { flow: FlowView; route: RouteView; decision: Decision } {
  const flow = new FlowView()
  const route = new RouteView()
  flow.client.copy(at(CLIENT))
  flow.routes.push(route)
  route.transceiver.copy(at(T1))
  route.session.set(SESSION)
  const decision = new Decision()
  decision.event = 'opened'
  decision.local = 0
  decision.client.copy(flow.client)
  decision.transceiver.copy(route.transceiver)
  decision.session.set(SESSION)
  return { flow, route, decision }
}

const ms = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1000 + nanoseconds / 1e6

test('a confirmed flow’s life is a span when it ends, with what went through it', () => {
  const { spans, made } = setUp()
  const now = performance.now()
  const { flow, route, decision } = opened()
  spans.opened(now, PUBLIC, decision)
  decision.routeAgeMs = 12
  spans.confirmed(now + 12, PUBLIC, decision)
  route.state = 'live'
  route.openedAt = now | 0
  flow.isConfirmed = true
  flow.packetsUp = 50
  flow.bytesDown = 700
  spans.ended(now + 40_000, PUBLIC, flow)
  const [open, confirm, life] = made()
  assert.deepEqual(
    [open, confirm, life].map((span) => span?.name),
    ['relay.flow.open', 'relay.flow.confirm', 'relay.flow'],
  )
  assert.ok(Math.abs(ms(confirm!.endTime) - ms(confirm!.startTime) - 12) < 0.01)
  assert.ok(Math.abs(ms(life!.endTime) - ms(life!.startTime) - 40_000) < 1.01)
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
  spans.ended(10, PUBLIC, opened().flow)
  assert.deepEqual(made(), [])
})

test('a flood of first requests makes so many spans, and the rest is counted', () => {
  const { spans, made } = setUp()
  const { decision } = opened()
  for (let i = 0; i < 5000; i++) spans.opened(i / 100, PUBLIC, decision)
  assert.equal(made().length, OPEN_SPANS_PER_SECOND)
  assert.equal(spans.budget.leftOut.opened, 5000 - OPEN_SPANS_PER_SECOND)
  spans.confirmed(50, PUBLIC, decision)
  assert.equal(made().at(-1)?.name, 'relay.flow.confirm')
})

test('where spans go nowhere none is counted as left out', () => {
  const telemetry = createTelemetry({ version: '0', env: {} })
  const spans = new FlowSpans({ tracer: telemetry.tracer('relay'), tracing: telemetry.tracing })
  for (let i = 0; i < 500; i++) spans.opened(0, PUBLIC, opened().decision)
  assert.equal(spans.budget.leftOut.opened, 0)
})

test('the relay closes: its confirmed flows end as spans', () => {
  const { spans, made } = setUp()
  const { flow, route } = opened()
  route.state = 'live'
  flow.isConfirmed = true
  const flows = { page: () => ({ flows: [flow, opened().flow] }) }
  spans.closing(5, { flows, hops: { proxyOf: () => PUBLIC } })
  assert.deepEqual(
    made().map(({ name }) => name),
    ['relay.flow'],
  )
})

test('the state tells of each flow that ends, while its routes are still there', () => {
  const told: [confirmed: boolean, routes: string[], packetsUp: number][] = []
  const relay = new SimulatedRelay({
    onFlowEnd: (flow) =>
      told.push([
        flow.isConfirmed,
        flow.routes.map(({ transceiver }) => String(transceiver)),
        flow.packetsUp,
      ]),
  })
  relay.issue('call1', T1)
  relay.connect('call1', T1)
  relay.check('call1', '198.51.100.9:1')
  relay.now += 29_999
  relay.state.flows.sweep(relay.now, 10)
  assert.deepEqual(told, [[false, [T1], 1]])
  relay.now += 1
  relay.state.flows.sweep(relay.now, 10)
  assert.deepEqual(told[1], [true, [T1], 1])
  assert.deepEqual(relay.state.flows.page(0, 9).flows, [])
})
