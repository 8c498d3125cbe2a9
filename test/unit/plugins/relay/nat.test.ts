/** Servers that know nothing of relays: a port for each client, and clients whose ufrags are the server's own. */

import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { bareFraming, type UdpPort } from '../../../../core/index.ts'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import { UNCONFIRMED_MS } from '../../../../plugins/relay/pure/limits.ts'
import { startRelay } from '../../../../plugins/relay/relay.ts'
import { bindingRequest } from '../../../stun-bytes.ts'
import { at, CLIENT, LOCALS, MEDIA, SimulatedRelay, SUCCESS, T1, T2 } from './simulated-relay.ts'

const OWN = 'Ab+/'

describe('ufrags that no codec of ours wrote', () => {
  test('lead to the one server that there is, within the rules', () => {
    const relay = new SimulatedRelay({ framing: bareFraming, fallback: T2 })
    relay.issue('call1', T1)
    assert.deepEqual(relay.check(OWN), [T2])
    assert.equal(relay.up(MEDIA), 'no_route')
    assert.equal(relay.bare(T2, MEDIA), 'pending_downstream')
    assert.equal(relay.bare(T1, SUCCESS), 'not_own_transceiver')
    assert.deepEqual(relay.bare(T2, SUCCESS), [`${LOCALS[0]} > ${CLIENT}`])
    assert.deepEqual(relay.up(MEDIA), [T2])
    assert.deepEqual(relay.check('call1', '198.51.100.8:1'), [T1])
    assert.equal(relay.rawDown(T2, MEDIA), 'bad_frame')
    assert.equal(relay.state.counters.bytesDown, SUCCESS.length)
  })

  test('lead nowhere without one, and never to ourselves', () => {
    assert.equal(new SimulatedRelay({ framing: bareFraming }).check(OWN), 'bad_ufrag')
    const relay = new SimulatedRelay({ framing: bareFraming, fallback: String(LOCALS[1]) })
    assert.equal(relay.check(OWN), 'own_address')
  })

  test('keep to the bounds of any ufrag', () => {
    const relay = new SimulatedRelay({ framing: bareFraming, fallback: T2 })
    for (let i = 0; i < 8; i++) assert.deepEqual(relay.check(OWN, `198.51.100.${i + 1}:1`), [T2])
    assert.equal(relay.check(OWN, '198.51.100.9:1'), 'ufrag_addresses')
    for (let i = 0; i < 42; i++) relay.check(OWN, '198.51.100.1:1')
    assert.equal(relay.check(OWN, '198.51.100.1:1'), 'ufrag_rate')
  })
})

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** A relay on memory UDP in front of one server. */
async function start(maxFlows = 64) {
  const { context, network } = pluginContext()
  const options = {
    listen: [String(LOCALS[0])],
    upstream: '10.0.0.4:0',
    allow: { cidrs: ['10.0.0.0/24'], ports: '3479' },
    framing: 'nat' as const,
    defaultUpstream: T1,
    maxFlows,
    workers: 'auto' as const,
    pin: true,
    segments: false,
    coalesceMicroseconds: 0,
  }
  const codec = { encode: () => '', decode: () => undefined }
  const relay = await startRelay(options, { codec, recovery: undefined }, context, 7)
  open.push(() => relay.close())
  const heard: string[] = []
  let last = at(CLIENT)
  const server: UdpPort = await network.engine.open({
    address: at(T1),
    onDatagram: ({ bytes, start, end, source }) => {
      last = source.clone()
      heard.push(`${source} ${bytes.toString('hex', start, end)}`)
    },
  })
  const send = async (bytes: Buffer, client = CLIENT): Promise<void> => {
    network.inject(bytes, at(client), LOCALS[0]!)
    await settled()
  }
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  const answer = async (bytes: Buffer, to = last): Promise<void> => {
    server.send(bytes, 0, bytes.length, to)
    await settled()
  }
  return { relay, heard, send, answer, source: () => last.clone() }
}

test('the server sees bare datagrams from one address for each client, as long as its flow lives', async () => {
  const { heard, send, answer, source, relay } = await start()
  const request = bindingRequest(`${OWN}:client`)
  await send(request)
  assert.deepEqual(heard, [`${source()} ${request.toString('hex')}`])
  const first = source()
  await answer(SUCCESS)
  await send(MEDIA)
  assert.ok(source().equals(first))
  await send(request, '198.51.100.8:40000')
  assert.ok(!source().equals(first))
  assert.equal(first.host, '10.0.0.4')
  assert.equal(relay.workers[0]!.state.flows.confirmed, 1)
})

test('ports are bounded by the flows, and closed with them', async () => {
  const { send, source, answer, relay } = await start(16)
  const request = bindingRequest(`${OWN}:client`)
  await send(request)
  const first = source()
  await answer(SUCCESS)
  for (let i = 0; i < 40; i++) await send(bindingRequest(`${OWN}${i}:x`), `198.51.100.${i + 10}:1`)
  const { state } = relay.workers[0]!
  assert.equal(state.flows.confirmed + state.flows.unconfirmed, 16)
  await send(MEDIA)
  assert.ok(source().equals(first))
  state.flows.sweep(Math.trunc(performance.now()) + UNCONFIRMED_MS, 100)
  assert.deepEqual([state.flows.confirmed, state.flows.unconfirmed], [1, 0])
  await send(MEDIA)
  assert.ok(source().equals(first))
})
