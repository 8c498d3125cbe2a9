/**
 * Two transceivers of one cluster that share control keys and client-secret keys: sidebands, WHIP sessions and pipecat's
 * candidates reach a call from either, by key and by client secret.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { randomCredentials, writeOffer } from '../peers/offer.ts'
import { postTo } from '../peers/signaling.ts'
import { KEYS, memberConfig } from './support/cluster.ts'
import { ask, assertRefused, type HttpAnswer } from './support/http.ts'

const OFFER = writeOffer({ ...randomCredentials(), fingerprint: Array(32).fill('AB').join(':') })
const FRAGMENT = 'application/trickle-ice-sdpfrag'
const CLIENT_SECRET_KEYS = ['what all transceivers seal client secrets with']

let owner: TestEdge
let other: TestEdge

/** A member that also shares the keys of client secrets. */
function member(): Promise<TestEdge> {
  const config = structuredClone(memberConfig()) as { plugins: { transceiver: { options: object } } }
  Object.assign(config.plugins.transceiver.options, { clientSecretKeys: CLIENT_SECRET_KEYS })
  return startEdge({ config: { ...config } })
}

const asks = (edge: TestEdge, method: string, path: string, headers: Record<string, string>, body = '') =>
  ask(edge.origin, { method, path, headers: { authorization: `Bearer ${KEYS.alice}`, ...headers }, body })

async function secretOf(edge: TestEdge): Promise<string> {
  const { body } = await asks(
    edge,
    'POST',
    '/v1/realtime/client_secrets',
    { 'content-type': 'application/json' },
    '{}',
  )
  return JSON.parse(body).value
}

function listen(edge: TestEdge, callId: string, key: string): WebSocket {
  const url = `${edge.origin.replace('http', 'ws')}/v1/realtime?call_id=${callId}`
  return new WebSocket(url, ['realtime', `openai-insecure-api-key.${key}`])
}

async function refusal(socket: WebSocket): Promise<number> {
  const [request, response] = await once(socket, 'unexpected-response')
  request.destroy()
  return response.statusCode
}

describe('signaling at either of two transceivers', () => {
  before(async () => {
    owner = await member()
    other = await member()
  })

  after(async () => {
    await owner?.close()
    await other?.close()
  })

  it('joins a call by a sideband, for who made it alone', async () => {
    const secret = await secretOf(owner)
    await using client = await TestClient.connect(postTo(other.origin, { key: secret }))
    const id = client.url!.split('/').at(-1)!
    const sideband = listen(owner, id, secret)
    await once(sideband, 'open')
    assert.equal(sideband.protocol, 'realtime')
    const heard = once(sideband, 'message')
    sideband.send('{"type":"from.sideband"}')
    assert.deepEqual(await client.events.take(), { type: 'from.sideband' })
    assert.equal(String((await heard)[0]), '{"type":"from.sideband"}')
    for (const key of [KEYS.bob, await secretOf(owner)]) {
      assert.equal(await refusal(listen(owner, id, key)), 404)
    }
    const ended = once(sideband, 'close')
    await client.close()
    const [code, reason] = await ended
    assert.equal(code, 1000)
    assert.match(String(reason), /^(peer|channel)_closed$/)
  })

  it('restarts and ends a WHIP session', async () => {
    const made = await asks(owner, 'POST', '/whip', { 'content-type': 'application/sdp' }, OFFER)
    assert.equal(made.status, 201)
    const session = made.headers.location!
    const patch = (match: Record<string, string>): Promise<HttpAnswer> =>
      asks(
        other,
        'PATCH',
        session,
        { 'content-type': FRAGMENT, ...match },
        `a=ice-ufrag:wxyz\r\na=ice-pwd:${'x'.repeat(24)}\r\n`,
      )
    assertRefused(await patch({}), 428, 'precondition_required')
    assertRefused(await patch({ 'if-match': '"old"' }), 412, 'precondition_failed')
    const restarted = await patch({ 'if-match': made.headers.etag! })
    assert.equal(restarted.status, 200)
    assert.equal(restarted.headers['content-type'], FRAGMENT)
    assert.notEqual(restarted.headers.etag, made.headers.etag)
    assert.match(restarted.body, /^a=ice-ufrag:/m)
    const again = await patch({ 'if-match': restarted.headers.etag! })
    assert.equal(again.status, 204)
    assert.equal((await asks(other, 'DELETE', session, {})).status, 200)
    await owner.untilIdle()
  })

  it('takes pipecat’s candidates', async () => {
    const json = { 'content-type': 'application/json' }
    const offer = JSON.stringify({ sdp: OFFER, type: 'offer', pc_id: null, restart_pc: false })
    const { body } = await asks(owner, 'POST', '/api/offer', json, offer)
    const { pc_id: id } = JSON.parse(body)
    const candidates = JSON.stringify({ pc_id: id, candidates: [] })
    assert.equal((await asks(other, 'PATCH', '/api/offer', json, candidates)).status, 200)
    const { body: begun } = await asks(other, 'POST', '/start', json, '{}')
    const path = `/sessions/${JSON.parse(begun).sessionId}/api/offer`
    const own = await ask(owner.origin, { method: 'POST', path, headers: json, body: offer })
    assert.equal(own.status, 200)
    const inSession = JSON.stringify({ pc_id: JSON.parse(own.body).pc_id, candidates: [] })
    const trickled = await ask(other.origin, { method: 'PATCH', path, headers: json, body: inSession })
    assert.equal(trickled.status, 200)
    assertRefused(
      await ask(other.origin, { method: 'PATCH', path, headers: json, body: candidates }),
      404,
      'call_not_found',
    )
    for (const one of [id, JSON.parse(own.body).pc_id]) {
      assert.equal((await asks(other, 'DELETE', `/v1/realtime/calls/${one}`, {})).status, 200)
    }
    await owner.untilIdle()
  })
})
