/** The stock `openai` client with another base URL: client secrets, calls, and a sideband, over TLS. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { connect, getCACertificates, setDefaultCACertificates } from 'node:tls'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import type { Answered } from '../peers/signaling.ts'
import { edgeConfig } from './support/configs.ts'

const KEY = 'alice-has-a-long-key'
const COMMON = getCACertificates('default')

let edge: TestEdge
let baseURL: string

const openai = (apiKey = KEY) => new OpenAI({ apiKey, baseURL, maxRetries: 0 })

/** Posts offers as an app would. */
const postBy =
  (client: OpenAI, session?: { type: 'realtime'; instructions: string }) =>
  async (sdp: string): Promise<Answered> => {
    const response = await client.realtime.calls.create(session ? { sdp, session } : { sdp })
    return { sdp: await response.text(), url: response.headers.get('location') ?? '' }
  }

const idOf = ({ url }: TestClient): string => url!.split('/').at(-1)!

/** What a certificate authority would vouch for: the listener's own certificate. */
async function trust(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  const lines = raw.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  setDefaultCACertificates([...COMMON, `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`])
}

async function closed(socket: OpenAIRealtimeWS['socket']): Promise<[number, string]> {
  const [code, reason] = await once(socket, 'close')
  return [code, String(reason)]
}

describe('the openai client', () => {
  before(async () => {
    edge = await startEdge({ config: edgeConfig({ http: { tls: 'self-signed', keys: { alice: KEY } } }) })
    await trust(edge.edge.address.port)
    baseURL = `https://${edge.edge.address}/v1`
  })

  after(async () => {
    setDefaultCACertificates(COMMON)
    await edge?.close()
  })

  it('gets a client secret, calls with it, with and without a session, and hangs up with it', async () => {
    const secret = await openai().realtime.clientSecrets.create({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: { type: 'realtime', instructions: 'be kind' },
    })
    assert.match(secret.value, /^ek_/)
    const holder = openai(secret.value)
    for (const session of [undefined, { type: 'realtime', instructions: 'be brief' }] as const) {
      await using client = await TestClient.connect(postBy(holder, session))
      client.sendEvent({ type: 'hello' })
      assert.deepEqual(await client.events.take(), { type: 'hello' })
      await holder.realtime.calls.hangup(idOf(client))
      assert.equal(await client.ended, 'close_notify')
    }
    await assert.rejects(holder.realtime.clientSecrets.create({}), OpenAI.PermissionDeniedError)
    await assert.rejects(
      openai('nobody-has-this-key').realtime.clientSecrets.create({}),
      OpenAI.AuthenticationError,
    )
  })

  it('reaches with one client secret no call of another', async () => {
    const secret = async () => (await openai().realtime.clientSecrets.create({})).value
    const mine = openai(await secret())
    await using client = await TestClient.connect(postBy(mine))
    const other = openai(await secret())
    await assert.rejects(other.realtime.calls.hangup(idOf(client)), OpenAI.NotFoundError)
    await openai().realtime.calls.hangup(idOf(client))
    assert.equal(await client.ended, 'close_notify')
  })

  it('joins a call by a sideband: hears, speaks, and is closed with the reason when the call ends', async () => {
    for (const [end, reasons] of [
      [(client: TestClient) => client.close(), ['peer_closed', 'channel_closed']],
      [(client: TestClient) => openai().realtime.calls.hangup(idOf(client)), ['hang_up']],
    ] as const) {
      await using client = await TestClient.connect(postBy(openai()))
      const sideband = new OpenAIRealtimeWS({ callID: idOf(client) }, openai())
      const heard: unknown[] = []
      sideband.on('event', (event) => heard.push(event))
      sideband.on('error', () => {})
      await once(sideband.socket, 'open')
      sideband.send({ type: 'response.create' })
      assert.deepEqual(await client.events.take(), { type: 'response.create' })
      client.sendEvent({ type: 'from.client' })
      await eventually('the sideband hears', () => heard.length === 2)
      const [over] = await Promise.all([closed(sideband.socket), end(client)])
      assert.equal(over[0], 1000)
      assert.ok(
        reasons.some((reason) => reason === over[1]),
        over[1],
      )
      assert.deepEqual(heard.at(-1), { type: 'session.ended', reason: over[1] })
      await edge.untilIdle()
    }
  })

  it('is told when there is no such call, and that a WebSocket alone is not served', async () => {
    for (const [props, status] of [
      [{ callID: 'rtc_nothing' }, 404],
      [{ model: 'gpt-realtime' }, 501],
    ] as const) {
      const { socket } = new OpenAIRealtimeWS(props, openai())
      const [request, response] = await once(socket, 'unexpected-response')
      assert.equal(response.statusCode, status)
      request.destroy()
    }
    await assert.rejects(openai().realtime.calls.accept('rtc_x', { type: 'realtime' }), { status: 501 })
  })
})
