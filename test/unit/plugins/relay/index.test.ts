/** The plugin as its host sees it, over memory UDP: forwarding, spans, metrics, the admin route and its end. */

import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import {
  type Address,
  type RecoveryStore,
  type RoutingCodec,
  readSpp,
  SPP_LENGTH,
  type UdpPort,
  writeSpp,
} from '../../../../core/index.ts'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import { Address as Mutable } from '../../../../core/wire/address.ts'
import relayPlugin from '../../../../plugins/relay/index.ts'
import { bindingRequest } from '../../../stun-bytes.ts'
import { at, CLIENT, MEDIA, SUCCESS, T1 } from './simulated-relay.ts'

const SESSION = Buffer.from('session1')
const PUBLIC = at('203.0.113.10:3478')
const INTERNAL = at('10.0.0.4:3480')

const codec: RoutingCodec = {
  encode: () => 'call1',
  decode: (text, start, end) =>
    Buffer.from(text.subarray(start, end)).toString() === 'call1'
      ? { cluster: 1, address: at(T1), session: SESSION }
      : undefined,
}

interface Setup {
  readonly host: ReturnType<typeof pluginContext>
  readonly ingress: readonly Address[]
  readonly spans: InMemorySpanExporter
  readonly received: { client: string[]; transceiver: string[] }
  metric(line: string): Promise<string | undefined>
  fromClient(bytes: Buffer): void
  fromTransceiver(payload: Buffer): void
  settled(): Promise<void>
}

interface Page {
  readonly flows: readonly { readonly client: string }[]
  readonly next?: number
}

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function setUp(recovery?: RecoveryStore, reachable = false): Promise<Setup> {
  const spans = new InMemorySpanExporter()
  const telemetry = createTelemetry({
    version: '0',
    env: { OTEL_TRACES_SAMPLER: 'always_on' },
    spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
  })
  const host = pluginContext({
    node: { cluster: 1, advertise: undefined, reachable },
    tracer: telemetry.tracer('relay'),
    meter: telemetry.meter('relay'),
    tracing: telemetry.tracing,
  })
  ends.push(
    () => telemetry.close(100),
    () => host.close(),
  )
  const options = {
    listen: [String(PUBLIC), '127.0.0.1:3478'],
    upstream: String(INTERNAL),
    allow: { cidrs: ['10.0.0.0/24'], ports: '3479' },
    maxFlows: 64,
    framing: 'spp' as const,
    workers: 'auto' as const,
    pin: true,
    segments: false,
    coalesceMicroseconds: 0,
  }
  const { ingress } = await relayPlugin.setup(options, { codec, recovery }, host.context)
  const received: Setup['received'] = { client: [], transceiver: [] }
  const client = await host.network.engine.open({
    address: at(CLIENT),
    onDatagram: ({ bytes, start, end, source }) =>
      received.client.push(`${source} ${bytes.toString('hex', start, end)}`),
  })
  const transceiver = await host.network.engine.open({
    address: at(T1),
    onDatagram: ({ bytes, start, end, source }) => {
      const from = new Mutable()
      const proxy = new Mutable()
      assert.ok(readSpp(bytes, start, end, from, proxy))
      received.transceiver.push(
        `${source} ${from} ${proxy} ${bytes.toString('hex', start + SPP_LENGTH, end)}`,
      )
    },
  })
  return {
    host,
    ingress: ingress.addresses,
    spans,
    received,
    metric: async (start) =>
      (await telemetry.metricsText()).split('\n').find((line) => line.startsWith(start)),
    fromClient: (bytes) => send(client, bytes, PUBLIC),
    fromTransceiver(payload) {
      const bytes = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
      writeSpp(bytes, 0, at(CLIENT), PUBLIC)
      send(transceiver, bytes, INTERNAL)
    },
    settled: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

function send(port: UdpPort, bytes: Buffer, to: Address): void {
  port.send(bytes, 0, bytes.length, to)
}

test('a call goes through framed and comes back bare, from the address the client knows', async () => {
  const { fromClient, fromTransceiver, received, settled } = await setUp()
  const check = bindingRequest('call1:client')
  fromClient(check)
  await settled()
  fromTransceiver(SUCCESS)
  await settled()
  fromClient(MEDIA)
  fromTransceiver(MEDIA)
  await settled()
  assert.deepEqual(received.transceiver, [
    `${INTERNAL} ${CLIENT} ${PUBLIC} ${check.toString('hex')}`,
    `${INTERNAL} ${CLIENT} ${PUBLIC} ${MEDIA.toString('hex')}`,
  ])
  assert.deepEqual(received.client, [
    `${PUBLIC} ${SUCCESS.toString('hex')}`,
    `${PUBLIC} ${MEDIA.toString('hex')}`,
  ])
})

test('field report 15: to clients without a call the relay sends nothing at all', async () => {
  const { host, fromClient, settled } = await setUp()
  const sent: string[] = []
  host.network.filter = ({ from, to }) => {
    if (!from.equals(at(CLIENT))) sent.push(`${from} > ${to}`)
    return true
  }
  for (const bytes of [
    bindingRequest('none1:x'),
    MEDIA,
    SUCCESS,
    Buffer.alloc(0),
    Buffer.alloc(1999, 0x80),
  ]) {
    fromClient(bytes)
  }
  await settled()
  assert.deepEqual(sent, [])
})

test('answers carry the bound addresses, by where HTTP is reachable', async () => {
  assert.deepEqual((await setUp()).ingress.map(String), ['127.0.0.1:3478', String(PUBLIC)])
  assert.deepEqual((await setUp(undefined, true)).ingress.map(String), [String(PUBLIC)])
})

test('a route that opens and one that is confirmed are spans of the call', async () => {
  const { fromClient, fromTransceiver, spans, settled, host } = await setUp()
  const root = host.context.tracing.root(SESSION, 'call')
  fromClient(bindingRequest('call1:client'))
  await settled()
  fromTransceiver(SUCCESS)
  fromTransceiver(SUCCESS)
  fromTransceiver(MEDIA)
  await settled()
  root.end()
  const found = spans.getFinishedSpans().filter(({ name }) => name.startsWith('relay.'))
  assert.deepEqual(
    found.map(({ name }) => name),
    ['relay.flow.open', 'relay.flow.confirm'],
  )
  for (const span of found) {
    assert.equal(span.spanContext().traceId, root.spanContext().traceId)
    assert.equal(span.parentSpanContext?.spanId, root.spanContext().spanId)
    assert.equal(span.attributes['client.address'], '198.51.100.7')
  }
})

test('metrics count both directions, drops by reason, flows by state', async () => {
  const { fromClient, fromTransceiver, metric, settled } = await setUp()
  fromClient(MEDIA)
  fromClient(bindingRequest('call1:client'))
  await settled()
  assert.match((await metric('earshot_relay_flows{state="unconfirmed"'))!, / 1$/)
  fromTransceiver(SUCCESS)
  await settled()
  fromClient(MEDIA)
  await settled()
  assert.match((await metric('earshot_relay_packets_total{direction="up"'))!, / 2$/)
  assert.match((await metric('earshot_relay_packets_total{direction="down"'))!, / 1$/)
  assert.match((await metric('earshot_relay_bytes_total{direction="down"'))!, / 20$/)
  assert.match((await metric('earshot_relay_drops_total{reason="no_route"'))!, / 1$/)
  assert.match((await metric('earshot_relay_drops_total{reason="table_full"'))!, / 0$/)
  assert.match((await metric('earshot_relay_flows{state="confirmed"'))!, / 1$/)
  assert.match(
    (await metric(`earshot_relay_socket_datagrams_total{socket="${PUBLIC}",direction="in"`))!,
    / 3$/,
  )
  assert.equal(await metric('earshot_relay_look_ups'), undefined)
})

describe('GET /relay/flows', () => {
  test('tells of each flow', async () => {
    const { host, fromClient, fromTransceiver, settled } = await setUp()
    fromClient(bindingRequest('call1:client'))
    await settled()
    fromTransceiver(SUCCESS)
    await settled()
    const { flows, next, ...rest } = (await host.context.admin.inject('/relay/flows')).json()
    const { ageMs, endsInMs, routes, ...flow } = flows[0]
    assert.deepEqual(rest, { confirmed: 1, unconfirmed: 0 })
    assert.equal(next, undefined)
    assert.deepEqual(flow, {
      client: CLIENT,
      local: String(PUBLIC),
      confirmed: true,
      packets: { up: 1, down: 1 },
      bytes: { up: bindingRequest('call1:client').length, down: SUCCESS.length },
    })
    assert.ok(ageMs >= 0 && endsInMs > 0 && routes[0].lastSuccessAgoMs >= 0)
    assert.deepEqual([routes.length, routes[0].transceiver, routes[0].state], [1, T1, 'live'])
  })
  test('comes in pages, each flow once, and refuses a page without bound', async () => {
    const { host } = await setUp()
    const clients = Array.from({ length: 8 }, (_, i) => `198.51.100.${i + 10}:9`)
    for (const client of clients) host.network.inject(bindingRequest('call1:x'), at(client), PUBLIC)
    host.network.deliver()
    const seen: string[] = []
    let cursor: number | undefined = 0
    for (let pages = 0; cursor !== undefined && pages < 100; pages++) {
      const page: Page = (await host.context.admin.inject(`/relay/flows?limit=3&cursor=${cursor}`)).json()
      seen.push(...page.flows.map((flow) => flow.client))
      cursor = page.next
    }
    assert.deepEqual(seen.sort(), clients.sort())
    assert.equal((await host.context.admin.inject('/relay/flows?limit=501')).statusCode, 400)
    assert.equal((await host.context.admin.inject('/relay/flows?cursor=-1')).statusCode, 400)
    assert.equal((await host.context.admin.inject('/relay/flows?cursor=999999999')).json().flows.length, 0)
  })
})

test('closed, it hears nothing, and its addresses are free', async () => {
  const { host, fromClient, received, settled } = await setUp()
  await host.close()
  fromClient(bindingRequest('call1:client'))
  await settled()
  assert.deepEqual(received.transceiver, [])
  for (const address of [PUBLIC, INTERNAL]) {
    await (await host.network.engine.open({ address, onDatagram: () => {} })).close()
  }
})
