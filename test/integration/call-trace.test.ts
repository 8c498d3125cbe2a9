/** One call through a relay process and a transceiver process is one trace, found by its session alone. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callIds } from '../../core/call-ids.ts'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge } from '../peers/edge.ts'
import { OtlpReceiver, type ReceivedSpan, spanTree } from '../peers/otlp-receiver.ts'
import { hangUpAt } from '../peers/signaling.ts'
import { type Config, edgeConfig, transceiverConfig } from './support/configs.ts'
import { guideTree } from './support/guide-tree.ts'
import { talkUntil } from './support/talk.ts'
import { CALLER, tracedCall } from './support/traced-call.ts'

describe('a call through two processes', () => {
  it('is one trace, readable while it runs and whole when it has ended', async () => {
    await using receiver = await OtlpReceiver.open()
    await using call = await tracedCall(receiver.url)
    const { relay, transceiver, client, session, traceId, spanId } = call
    const shown = await transceiver.ask<{ sessions: { session: string }[] }>('/transceiver/sessions')
    assert.deepEqual(
      shown.sessions.map((one) => one.session),
      [session],
    )
    for (const name of WHILE_IT_RUNS) await receiver.span(traceId, name)
    assert.equal(
      receiver.trace(traceId).find(({ name }) => name === 'call'),
      undefined,
    )

    const { port } = client.local
    await hangUpAt(client.url!)
    const root = await receiver.span(traceId, 'call')
    await relay.stop()
    await receiver.span(traceId, 'relay.flow')
    await eventually('its metrics have come', () => receiver.metricNames.has('earshot.relay.packets'))
    const spans = receiver.trace(traceId)
    assert.equal(root.spanId, spanId, 'the root span’s id follows from the session')
    assert.equal(root.parentSpanId, '')
    assert.equal(root.kind, 2, 'a server’s')
    assert.deepEqual(spans.map(({ name }) => name).sort(), [...WHILE_IT_RUNS, ...AT_THE_END].sort())
    for (const span of spans) {
      if (span !== root) assert.equal(span.parentSpanId, spanId, span.name)
      assert.equal(span.status, 0, span.name)
      assert.ok(span.end >= span.start, span.name)
    }
    checkProcesses(spans, root)
    checkAttributes(spans, port, session)
    assert.deepEqual(root.links, [CALLER])
    assert.deepEqual(spanTree(spans).split('\n').sort(), guideTree().sort())
    const sent = spans.find(({ name }) => name === 'audio.sent')!
    assert.deepEqual(root.events.map(({ name }) => name).sort(), ['audio.received', 'audio.sent'])
    assert.equal(root.events.find(({ name }) => name === 'audio.sent')?.at, sent.end)
    const logged = await transceiver.logged('call started')
    assert.deepEqual([logged.trace_id, logged.span_id], [traceId, spanId])
    assert.equal((await transceiver.logged('call ended')).trace_id, traceId)
  })
})

describe('a call whose relay is gone', () => {
  it('has its recovery in the same trace, by a relay that never saw its ufrag', async () => {
    await using receiver = await OtlpReceiver.open()
    const telemetry = { otlp: receiver.url }
    const first = await startEdge({ config: { ...relayAt('127.0.0.1:0'), telemetry } })
    const advertised = String(first.bound[0])
    const node = { advertise: [advertised] }
    const config = transceiverConfig({ node, codec: CODEC })
    await using transceiver = await startEdge({ config: { ...config, telemetry } })
    // No check after the first: only the store can bring the call back.
    await using client = await TestClient.connect(transceiver.post, { checkEveryMs: 20_000 })
    const [{ session } = { session: '' }] = (await transceiver.sessions()).sessions
    const { traceId, spanId } = callIds(Buffer.from(session, 'hex'))
    await receiver.span(traceId, 'relay.flow.confirm')
    await first.close()
    await using _second = await startEdge({ config: { ...relayAt(advertised), telemetry } })
    await client.audio.takeMany(client.audio.length)
    await talkUntil(client, () => client.audio.length > 0)
    const recovered = await receiver.span(traceId, 'relay.flow.recover')
    assert.equal(recovered.parentSpanId, spanId)
    assert.equal(recovered.attributes['client.port'], client.local.port)
    assert.notEqual(
      recovered.resource['service.instance.id'],
      (await receiver.span(traceId, 'relay.flow.confirm')).resource['service.instance.id'],
    )
  })
})

describe('a hang-up that comes to another transceiver', () => {
  it('is passed on within the call’s trace, and its owner’s part is below', async () => {
    await using receiver = await OtlpReceiver.open()
    const telemetry = { otlp: receiver.url }
    await using relay = await startEdge({ config: { ...relayAt('127.0.0.1:0'), telemetry } })
    const node = { advertise: [String(relay.bound[0])] }
    const control = { keys: [CONTROL_KEY], allow: { ports: '1024-65535' } }
    const config = { ...transceiverConfig({ node, codec: CODEC, transceiver: { control } }), telemetry }
    await using owner = await startEdge({ config })
    await using other = await startEdge({ config })
    await using client = await TestClient.connect(owner.post)
    const [{ session } = { session: '' }] = (await owner.sessions()).sessions
    const { traceId, spanId } = callIds(Buffer.from(session, 'hex'))
    assert.equal(await other.hangUp(client.url!), 200)
    const passedOn = await receiver.span(traceId, 'control.pass_on')
    const served = await receiver.span(traceId, 'control.serve')
    const root = await receiver.span(traceId, 'call')
    assert.equal(passedOn.parentSpanId, spanId)
    assert.equal(served.parentSpanId, passedOn.spanId)
    assert.equal(served.resource['service.instance.id'], root.resource['service.instance.id'])
    assert.notEqual(passedOn.resource['service.instance.id'], root.resource['service.instance.id'])
    assert.equal(root.attributes['earshot.call.end_reason'], 'hang_up')
  })
})

const CONTROL_KEY = '0123456789abcdef0123456789abcdef'
const CODEC = { keys: [{ id: 1, key: '00112233445566778899aabbccddeeff' }] }

/** A relay that shares the store of this process. */
function relayAt(listen: string): Config {
  const { codec, relay } = edgeConfig({ codec: CODEC, relay: { listen: [listen] } }).plugins
  const recovery = { use: './test/integration/support/shared-store.ts' }
  return {
    node: { cluster: 1 },
    http: { listen: '127.0.0.1:0' },
    admin: { listen: '127.0.0.1:0' },
    plugins: { codec, recovery, relay },
  }
}

/** The spans that must have come before the call ends; an operator looks at calls that go on. */
const WHILE_IT_RUNS = [
  'call.offer',
  'bridge.open',
  'ice.connect',
  'dtls.handshake',
  'relay.flow.open',
  'relay.flow.confirm',
  'audio.received',
  'audio.sent',
]
const AT_THE_END = ['bridge', 'call.end', 'call', 'relay.flow']

function checkProcesses(spans: readonly ReceivedSpan[], root: ReceivedSpan): void {
  const instances = new Set<unknown>()
  for (const { name, resource, scope } of spans) {
    assert.equal(resource['service.name'], 'earshot')
    assert.match(String(resource['service.version']), /^\d+\.\d+\.\d+/)
    instances.add(resource['service.instance.id'])
    const isRelay = name.startsWith('relay.')
    const expected = isRelay ? ['codec', 'recovery', 'relay'] : root.resource['earshot.plugins']
    assert.deepEqual(resource['earshot.plugins'], expected, name)
    assert.equal(scope, isRelay ? 'relay' : name === 'call' ? 'earshot' : 'transceiver', name)
  }
  assert.equal(instances.size, 2, 'two processes')
}

function checkAttributes(spans: readonly ReceivedSpan[], port: number, session: string): void {
  for (const { name, attributes } of spans) {
    const knowsClient = name.startsWith('relay.') || name === 'ice.connect' || name === 'call'
    if (knowsClient) {
      assert.equal(attributes['client.address'], '127.0.0.1', name)
      assert.equal(attributes['client.port'], port, name)
      assert.equal(attributes['network.transport'], 'udp', name)
    }
    if (name === 'call' || name === 'call.offer') assert.equal(attributes['session.id'], session)
    if (name === 'call' || name === 'call.end') assert.equal(attributes['earshot.call.end_reason'], 'hang_up')
    if (name === 'relay.flow') assert.ok(Number(attributes['earshot.relay.packets.up']) > 0)
  }
}
