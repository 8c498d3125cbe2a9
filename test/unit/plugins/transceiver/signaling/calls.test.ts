/** Starting a call over HTTP: what is taken, what is refused, and in which order. */

import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { CallService } from '../../../../../plugins/transceiver/signaling/call-service.ts'
import { registerCalls } from '../../../../../plugins/transceiver/signaling/calls.ts'
import { startOptions } from './all-routes.ts'
import { ANSWER, BODY_LIMIT, DESCRIBED, FakeReach, ID, listener, OneCall, ORIGIN } from './support.ts'

const sdp = { authorization: 'Bearer alice', 'content-type': 'application/sdp' }

let http: FastifyInstance
let created: OneCall['created']
let calls = new OneCall()

before(async () => {
  http = await listener()
  const service = new OneCall()
  service.create = (request) => calls.create(request)
  await registerCalls(http, startOptions(service))
})

after(() => http.close())

beforeEach(() => {
  calls = new OneCall()
  created = calls.created
})

const post = (payload: string | Buffer, headers: Record<string, string> = sdp, query = '') =>
  http.inject({ method: 'POST', url: `/v1/realtime/calls${query}`, headers, payload })
const codeOf = (response: { json(): { error: { code: string } } }) => response.json().error.code

describe('starting a call', () => {
  it('answers 201 with the SDP, its length and a relative Location', async () => {
    const response = await post('v=0\r\n')
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['content-type'], 'application/sdp')
    assert.equal(response.headers['content-length'], String(ANSWER.length))
    assert.equal(response.headers['transfer-encoding'], undefined)
    assert.equal(response.headers.location, `/v1/realtime/calls/${ID}`)
    assert.equal(response.body, ANSWER)
    assert.deepEqual(created, [{ sdp: 'v=0\r\n', caller: { name: 'alice' } }])
  })

  it('passes the model and a well-formed traceparent on', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await post('v=0', { ...sdp, traceparent }, '?model=gpt-realtime')
    await post('v=0', { ...sdp, traceparent: 'evil' }, '?model=')
    assert.deepEqual(created, [
      { sdp: 'v=0', caller: { name: 'alice' }, model: 'gpt-realtime', traceparent },
      { sdp: 'v=0', caller: { name: 'alice' } },
    ])
  })

  it('takes parameters and capitals in the content type', async () => {
    const response = await post('v=0', { ...sdp, 'content-type': 'Application/SDP; charset=utf-8' })
    assert.equal(response.statusCode, 201)
  })

  it('refuses any other content type before it reads the body', async () => {
    for (const type of ['text/plain', 'application/json', 'application/sdpx', 'nonsense', '']) {
      const response = await post('v=0', { ...sdp, 'content-type': type })
      assert.equal(response.statusCode, 415, type)
      assert.equal(codeOf(response), 'unsupported_media_type')
    }
    assert.equal(created.length, 0)
  })

  it('refuses an empty body, and bytes that are not UTF-8', async () => {
    for (const body of ['', Buffer.from([0x76, 0xff, 0xfe])]) {
      const response = await post(body)
      assert.equal(response.statusCode, 400)
      assert.equal(codeOf(response), 'invalid_sdp')
    }
    assert.equal(created.length, 0)
  })

  it('refuses two models, and one that is too long', async () => {
    for (const query of ['?model=a&model=b', `?model=${'m'.repeat(257)}`]) {
      assert.equal((await post('v=0', sdp, query)).statusCode, 400)
    }
  })

  it('asks who calls before anything else', async () => {
    for (const authorization of ['', 'Bearer mallory']) {
      const response = await post('x'.repeat(BODY_LIMIT * 2), {
        ...sdp,
        authorization,
        'content-type': 'text/html',
      })
      assert.equal(response.statusCode, 401)
    }
    assert.equal(created.length, 0)
  })

  it('refuses more than the body limit', async () => {
    const response = await post('x'.repeat(BODY_LIMIT + 1))
    assert.equal(response.statusCode, 413)
    assert.equal(created.length, 0)
  })

  it('passes the service’s refusal on', async () => {
    const response = await post('m=video')
    assert.equal(response.statusCode, 422)
    assert.equal(response.json().error.param, 'sdp')
  })

  it('ends a call whose client has gone before the answer', async () => {
    const gone = Promise.withResolvers<void>()
    const slow: CallService = {
      async create() {
        client.destroy()
        await gone.promise
        return { id: ID, sdp: ANSWER }
      },
      hangUp: (id) => hungUp.resolve(id),
      describe: () => DESCRIBED,
      reach: () => new FakeReach(),
    }
    const hungUp = Promise.withResolvers<string>()
    const second = await listener()
    second.addHook('onRequest', async (request) => {
      request.raw.socket.once('close', () => gone.resolve())
    })
    await registerCalls(second, startOptions(slow))
    await second.listen({ host: '127.0.0.1', port: 0 })
    const client = httpRequest(`${second.listeningOrigin}/v1/realtime/calls`, {
      method: 'POST',
      headers: sdp,
    })
    client.on('error', () => {})
    client.end('v=0')
    assert.equal(await hungUp.promise, ID)
    await second.close()
  })
})

describe('web pages from elsewhere', () => {
  it('may read every answer, good or bad, and the call’s Location', async () => {
    const from = { ...sdp, origin: ORIGIN }
    const answers = [
      await post('v=0', from),
      await post('v=0', { ...from, authorization: '' }),
      await post('v=0', { ...from, 'content-type': 'text/plain' }),
      await http.inject({ method: 'GET', url: '/v1/realtime/calls', headers: from }),
    ]
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [201, 401, 415, 405],
    )
    for (const { headers } of answers) assert.equal(headers['access-control-allow-origin'], ORIGIN)
    assert.match(String(answers[0]!.headers['access-control-expose-headers']), /Location/)
  })
})

describe('other methods', () => {
  it('are refused with Allow: POST', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'] as const) {
      const headers = { 'content-type': 'text/html' }
      const response = await http.inject({ method, url: '/v1/realtime/calls', headers })
      assert.equal(response.statusCode, 405, method)
      assert.equal(response.headers.allow, 'POST, OPTIONS')
    }
    assert.equal(created.length, 0)
  })
})
