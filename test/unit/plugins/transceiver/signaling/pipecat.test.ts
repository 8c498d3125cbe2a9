/** Pipecat's small WebRTC transport: its requests, and what it says on the data channel. */

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { interceptRtvi } from '../../../../../plugins/transceiver/signaling/rtvi.ts'
import { allRoutes } from './all-routes.ts'
import { ANSWER, ID, LATER_ANSWER, OneCall, ORIGIN } from './support.ts'

const alice = { authorization: 'Bearer alice', origin: ORIGIN }
const OFFER = { sdp: 'v=0\r\n', type: 'offer', pc_id: null, restart_pc: false }
const CANDIDATES = { pc_id: ID, candidates: [{ candidate: 'candidate:1', sdp_mid: '0', sdp_mline_index: 0 }] }

let http: FastifyInstance
let calls: OneCall

before(async () => {
  const service = new OneCall()
  service.create = (request) => calls.create(request)
  service.reach = (id, caller) => calls.reach(id, caller)
  http = await allRoutes(service)
})

after(() => http.close())

beforeEach(() => {
  calls = new OneCall()
})

async function ask(
  method: NonNullable<InjectOptions['method']>,
  url: string,
  body: unknown,
  headers: object = alice,
) {
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await http.inject({
    method,
    url,
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

describe('/api/offer', () => {
  it('starts a call: the answer, and its id as pc_id', async () => {
    const { status, headers, body } = await ask('POST', '/api/offer?model=m', OFFER)
    assert.equal(status, 200)
    assert.deepEqual(body, { sdp: ANSWER, type: 'answer', pc_id: ID })
    assert.equal(headers['access-control-allow-origin'], ORIGIN)
    assert.deepEqual(calls.created, [
      { sdp: OFFER.sdp, caller: { name: 'alice' }, model: 'm', dialect: 'rtvi' },
    ])
  })

  it('takes requestData for the session, and a peer connection made anew', async () => {
    await ask('POST', '/api/offer', { ...OFFER, requestData: { voice: 'x' } })
    const again = await ask('POST', '/api/offer', { ...OFFER, pc_id: ID, restart_pc: true })
    assert.equal(again.status, 200)
    assert.deepEqual(
      calls.created.map(({ session, replaces }) => [session, replaces]),
      [
        [{ voice: 'x' }, undefined],
        [undefined, ID],
      ],
    )
  })

  it('answers a later offer of a peer connection, and starts no call', async () => {
    const later = { ...OFFER, sdp: 'v=0\r\nlater', pc_id: ID }
    const { status, headers, body } = await ask('POST', '/api/offer?model=m', later)
    assert.equal(status, 200)
    assert.deepEqual(body, { sdp: LATER_ANSWER, type: 'answer', pc_id: ID })
    assert.equal(headers['cache-control'], 'no-store')
    assert.deepEqual([calls.created, calls.reached.renegotiated], [[], [later.sdp]])
    const bob = await ask('POST', '/api/offer', later, { authorization: 'Bearer bob' })
    assert.deepEqual([bob.status, bob.body.error.code], [501, 'not_implemented'])
    assert.doesNotMatch(JSON.stringify(bob.body), /yours|rtc_/)
    assert.equal(calls.reached.renegotiated.length, 1)
  })

  it('takes candidates of a call of the caller’s own', async () => {
    assert.equal((await ask('PATCH', '/api/offer', CANDIDATES)).status, 200)
    const bob = await ask('PATCH', '/api/offer', CANDIDATES, { authorization: 'Bearer bob' })
    assert.deepEqual([bob.status, bob.body.error.code], [404, 'call_not_found'])
    assert.equal((await ask('PATCH', '/api/offer', { ...CANDIDATES, pc_id: 'x' })).status, 404)
    for (const body of ['{', '[]', '{}', '', { ...CANDIDATES, pc_id: null }]) {
      assert.equal((await ask('PATCH', '/api/offer', body)).status, 400)
    }
  })

  const refused: readonly [what: string, body: unknown, status: number, code: string][] = [
    ['no JSON', '{', 400, 'bad_request'],
    ['nothing', '', 400, 'bad_request'],
    ['no offer', { ...OFFER, sdp: undefined }, 400, 'invalid_sdp'],
    ['an answer', { ...OFFER, type: 'answer' }, 400, 'bad_request'],
    ['requestData that is none', { ...OFFER, requestData: 'x' }, 400, 'bad_request'],
    ['an offer without audio', { ...OFFER, sdp: 'm=video' }, 422, 'no_audio'],
    ['a later offer that is none', { ...OFFER, sdp: '', pc_id: ID }, 400, 'invalid_sdp'],
    ['a later answer', { ...OFFER, type: 'answer', pc_id: ID }, 400, 'bad_request'],
    [
      'a later offer that changes the call, so that the client makes another peer connection',
      { ...OFFER, sdp: 'm=video', pc_id: ID },
      501,
      'not_implemented',
    ],
    [
      'a later offer of a call that is not there any more, for the same reason',
      { ...OFFER, pc_id: 'rtc_gone' },
      501,
      'not_implemented',
    ],
  ]
  for (const [what, body, status, code] of refused) {
    it(`refuses ${what} → ${status}`, async () => {
      const answer = await ask('POST', '/api/offer', body)
      assert.deepEqual([answer.status, answer.body.error.code], [status, code])
    })
  }

  it('needs a key, and JSON', async () => {
    assert.equal((await ask('POST', '/api/offer', OFFER, {})).status, 401)
    assert.equal((await ask('PATCH', '/api/offer', CANDIDATES, {})).status, 401)
    assert.equal((await ask('POST', '/start', {}, {})).status, 401)
    assert.equal(
      (await ask('POST', '/api/offer', OFFER, { ...alice, 'content-type': 'text/plain' })).status,
      415,
    )
    assert.equal((await ask('GET', '/api/offer', '')).status, 405)
  })
})

describe('/start', () => {
  it('begins a session, which needs no key afterwards, and whose body is the call’s', async () => {
    const asked = {
      transport: 'webrtc',
      body: { voice: 'a', audio: { x: 1 } },
      enableDefaultIceServers: true,
    }
    const { status, body } = await ask('POST', '/start', asked)
    assert.equal(status, 200)
    assert.deepEqual(body.iceConfig, { iceServers: [] })
    const path = `/sessions/${body.sessionId}/api/offer`
    const answer = await ask('POST', path, { ...OFFER, requestData: { audio: { y: 2 } } }, {})
    assert.equal(answer.status, 200)
    const [{ caller, session }] = calls.created as [OneCall['created'][0]]
    assert.equal(caller.name, 'alice')
    assert.ok(caller.clientSecret)
    assert.deepEqual(session, { voice: 'a', audio: { x: 1, y: 2 } })
    assert.equal((await ask('PATCH', path, CANDIDATES, {})).status, 200)
    assert.equal(calls.asked.at(-1)?.clientSecret, caller.clientSecret)
  })

  it('says no more than was asked for', async () => {
    const { body } = await ask('POST', '/start', '')
    assert.deepEqual(Object.keys(body), ['sessionId'])
  })

  it('refuses what no path carries, and sessions that are none', async () => {
    assert.equal((await ask('POST', '/start', { body: { text: 'x'.repeat(2100) } })).status, 400)
    assert.equal((await ask('POST', '/start', { body: 'x' })).status, 400)
    const largest = await ask('POST', '/start', { body: { text: 'x'.repeat(2000) } })
    const path = `/sessions/${largest.body.sessionId}/api/offer`
    assert.equal((await ask('POST', path, OFFER, {})).status, 200)
    const secret = await ask('POST', '/v1/realtime/client_secrets', {})
    for (const id of ['x', 'ek_x', secret.body.value]) {
      assert.equal((await ask('POST', `/sessions/${id}/api/offer`, OFFER, {})).status, 401)
      assert.equal((await ask('PATCH', `/sessions/${id}/api/offer`, CANDIDATES, {})).status, 401)
    }
    const asKey = { authorization: `Bearer ${largest.body.sessionId}` }
    assert.equal((await ask('POST', '/api/offer', OFFER, asKey)).status, 401)
  })
})

describe('what pipecat’s client says on the data channel', () => {
  it('ends here where it is for the transport alone', () => {
    assert.equal(interceptRtvi('ping: 1700000000000'), '')
    const status = { type: 'signalling', message: { type: 'trackStatus', receiver_index: 0, enabled: true } }
    assert.equal(interceptRtvi(JSON.stringify(status)), '')
  })

  it('is answered where it waits for that', () => {
    const ready = { id: 'a1', label: 'rtvi-ai', type: 'client-ready', data: { version: '2.1.0' } }
    const answer = JSON.parse(interceptRtvi(JSON.stringify(ready)) ?? '')
    assert.deepEqual([answer.id, answer.label, answer.type], ['a1', 'rtvi-ai', 'bot-ready'])
    assert.match(answer.data.version, /^\d+\.\d+\.\d+$/)
  })

  it('is answered without an id where that is no text, however deep it nests', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const answer = interceptRtvi(`{"label":"rtvi-ai","type":"client-ready","id":${deep}}`)
    assert.deepEqual(JSON.parse(answer ?? '').id, null)
  })

  it('is an event as any other otherwise', () => {
    for (const text of [
      '{"label":"rtvi-ai","type":"send-text","data":{"content":"client-ready"}}',
      '{"type":"client-ready"}',
      '{"a":"signalling"}',
      '"signalling"',
      '{"signalling"',
      'hello',
    ]) {
      assert.equal(interceptRtvi(text), undefined, text)
    }
  })
})
