/** The plugin as the host sets it up: what it serves, what it counts, and what it tells operators. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fastify from 'fastify'
import { Value } from 'typebox/value'
import { type Address, type Context, EdgeError } from '../../../../core/index.ts'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import { loopback } from '../../../../plugins/inference-bridge/loopback/bridge.ts'
import { SealedCodec } from '../../../../plugins/routing-codec/sealed/codec.ts'
import transceiver from '../../../../plugins/transceiver/index.ts'
import { Options } from '../../../../plugins/transceiver/options.ts'
import { randomCredentials, writeOffer } from '../../../peers/offer.ts'
import { address } from './ice/support.ts'

const OFFER = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const codec = new SealedCodec([{ id: 1, key: '00112233445566778899aabbccddeeff' }])
const told: string[] = []
const ingress = {
  addresses: [address('203.0.113.1:3478')],
  closesFirst: (own: Address) => void told.push(String(own)),
}
const services = { codec, bridge: loopback, ingress }

async function setUp(
  options: object = {},
  parts: Partial<Context> = {},
  given: Partial<typeof services> = services,
) {
  const telemetry = createTelemetry({ version: '0', env: {} })
  // As the host's: call ids are longer than what Fastify takes for a parameter unless told.
  const http = fastify({ routerOptions: { maxParamLength: 256 } })
  const host = pluginContext({ meter: telemetry.meter('transceiver'), http, ...parts })
  const complete = Value.Parse(Options, Value.Default(Options, options))
  const post = () =>
    host.context.http.inject({
      method: 'POST',
      url: '/v1/realtime/calls',
      headers: { 'content-type': 'application/sdp' },
      payload: OFFER,
    })
  try {
    await transceiver.setup(complete, { codec, bridge: loopback, ingress: given.ingress }, host.context)
  } catch (error) {
    await host.close()
    throw error
  }
  return { ...host, telemetry, post }
}

describe('the transceiver plugin', () => {
  it('tells operators of its calls nothing that would open one', async () => {
    const { context, post, close } = await setUp()
    const { body, headers } = await post()
    const answer = await context.admin.inject('/transceiver/sessions')
    assert.partialDeepStrictEqual(answer.json(), {
      total: 1,
      bound: { sessions: 1, ufrags: 1, addresses: 0 },
      sessions: [{ caller: 'anonymous', state: 'new', client: null, packetsReceived: 0, roundTripMs: null }],
    })
    const id = String(headers.location).split('/').at(-1)!
    for (const secret of [
      id,
      id.slice(-32),
      /ice-ufrag:(\S+)/.exec(body)![1]!,
      /ice-pwd:(\S+)/.exec(body)![1]!,
    ]) {
      assert.ok(!answer.body.includes(secret))
    }
    await close()
  })

  it('logs from which ip a call was asked for where no key tells callers apart', async () => {
    const authenticate = () => ({ name: 'anonymous', ip: '203.0.113.9' })
    const { post, logs, close } = await setUp({}, { authenticate })
    await post()
    assert.partialDeepStrictEqual(
      logs.find(({ msg }) => msg === 'call started'),
      { caller: 'anonymous', ip: '203.0.113.9' },
    )
    await close()
  })

  it('tells the relay beside it where it is', async () => {
    const { close } = await setUp({ listen: '127.0.0.1:3479' })
    assert.equal(told.at(-1), '127.0.0.1:3479')
    await close()
  })

  it('counts, with few labels', async () => {
    const { post, context, telemetry, close } = await setUp({ maxCalls: 2 })
    const urls = [await post(), await post(), await post()].map(({ headers }) => headers.location)
    assert.equal(urls[2], undefined)
    await context.http.inject({ method: 'DELETE', url: String(urls[0]) })
    const text = await telemetry.metricsText()
    const value = (name: string, labels = ''): string | undefined =>
      new RegExp(`^earshot_transceiver_${name}\\{[^}]*${labels}[^}]*\\} (\\d+)$`, 'm').exec(text)?.[1]
    assert.equal(value('calls', 'state="new"'), '1')
    assert.equal(value('calls_started_total'), '2')
    assert.equal(value('calls_ended_total', 'reason="hang_up"'), '1')
    assert.equal(value('offers_refused_total', 'code="too_many_calls"'), '1')
    for (const kind of ['truncated', 'receive', 'send'])
      assert.equal(value('socket_errors_total', `kind="${kind}"`), '0')
    assert.equal(value('drops_total', 'reason="untrusted"'), '0')
    await close()
  })

  it('advertises what the config says before what a relay here says, and starts with neither', async () => {
    const advertise = [address('198.51.100.9:3478')]
    const named = await setUp({}, { node: { cluster: 1, advertise, reachable: true } })
    assert.match((await named.post()).body, / 198\.51\.100\.9 3478 typ host/)
    await named.close()
    const near = await setUp()
    assert.match((await near.post()).body, / 203\.0\.113\.1 3478 typ host/)
    await near.close()
    await assert.rejects(
      setUp({}, {}, {}),
      (error) => error instanceof EdgeError && /advertise/.test(error.message),
    )
  })

  it('frees its socket and its calls when it is closed', async () => {
    const { post, close, context, logs } = await setUp({ listen: '127.0.0.1:3479' })
    await post()
    await close()
    assert.partialDeepStrictEqual(logs.at(-1), { msg: 'call ended', reason: 'shutdown' })
    const again = await context.udp.open({ address: address('127.0.0.1:3479'), onDatagram() {} })
    await again.close()
  })
})
