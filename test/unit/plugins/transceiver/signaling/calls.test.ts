import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createListener } from '../../../../../core/http.ts'
import { EdgeError } from '../../../../../core/index.ts'
import {
  type CallRequest,
  type CallService,
  callNotFound,
} from '../../../../../plugins/transceiver/signaling/call-service.ts'
import { registerCalls } from '../../../../../plugins/transceiver/signaling/calls.ts'

const BODY_LIMIT = 4096
const ORIGIN = 'https://app.example'
const ID = `rtc_${'a1'.repeat(48)}${'0'.repeat(32)}`
const ANSWER = 'v=0\r\ns=-\r\n'
const sdp = { authorization: 'Bearer alice', 'content-type': 'application/sdp' }

let http: FastifyInstance
let created: CallRequest[] = []
let ended: string[] = []

/** Alice owns the one call; everything that is not hers to end is refused with a message of its own. */
const calls: CallService = {
  async create(request) {
    created.push(request)
    if (request.sdp.includes('m=video')) throw new EdgeError('no_audio', 'no audio', { param: 'sdp' })
    return { id: ID, sdp: ANSWER }
  },
  hangUp(id, caller) {
    if (id !== ID) throw new EdgeError('call_not_found', `${id} is unknown`)
    if (caller.name !== 'alice')
      throw new EdgeError('call_not_found', `${id} is not yours`, { param: 'caller' })
    ended.push(id)
  },
}

function authenticate(request: { headers: { authorization?: string | undefined } }) {
  const name = /^Bearer (alice|bob)$/.exec(request.headers.authorization ?? '')?.[1]
  if (!name) throw new EdgeError('unauthorized', 'who are you?')
  return { name }
}

/** A listener as the host makes it. */
const listener = () =>
  createListener({ log: pino({ level: 'silent' }), bodyLimit: BODY_LIMIT, origins: [ORIGIN], guarded: false })

before(async () => {
  http = await listener()
  await registerCalls(http, { calls, authenticate })
})

after(() => http.close())

beforeEach(() => {
  created = []
  ended = []
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
    }
    const hungUp = Promise.withResolvers<string>()
    const second = await listener()
    second.addHook('onRequest', async (request) => {
      request.raw.socket.once('close', () => gone.resolve())
    })
    await registerCalls(second, { calls: slow, authenticate })
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

describe('ending a call', () => {
  const hangUp = (id: string, headers: Record<string, string> = sdp, payload?: string) =>
    http.inject({
      method: 'POST',
      url: `/v1/realtime/calls/${id}/hangup`,
      headers,
      ...(payload ? { payload } : {}),
    })
  const remove = (id: string, headers: Record<string, string> = sdp) =>
    http.inject({ method: 'DELETE', url: `/v1/realtime/calls/${id}`, headers })

  it('hangs up by POST and by DELETE, whatever body the client sends', async () => {
    const json = { authorization: 'Bearer alice', 'content-type': 'application/json' }
    const bare = { authorization: 'Bearer alice' }
    const responses = [
      await hangUp(ID, bare),
      await hangUp(ID, json),
      await hangUp(ID, json, '{}'),
      await hangUp(ID, sdp, 'x'),
      await hangUp(ID, { ...bare, 'content-type': '' }),
      await hangUp(ID, { ...bare, 'content-type': 'foo' }, 'x'),
      await remove(ID, bare),
      await remove(ID, json),
    ]
    for (const response of responses) {
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json(), {})
    }
    assert.equal(ended.length, responses.length)
  })

  it('tells an unknown, a malformed and another caller’s id apart for nobody', async () => {
    const bob = { ...sdp, authorization: 'Bearer bob' }
    const unknown = ID.replace('a1', 'a2')
    const seen = new Set<string>()
    for (const [id, headers] of [
      [ID, bob],
      [unknown, sdp],
      ['nonsense', sdp],
      ['%00', sdp],
      ['..%2f', sdp],
    ] as const) {
      for (const response of [await hangUp(id, headers), await remove(id, headers)]) {
        assert.equal(response.statusCode, 404)
        const { date: _date, ...others } = response.headers
        seen.add(response.body + JSON.stringify(others))
      }
    }
    assert.equal(seen.size, 1)
    assert.ok([...seen][0]!.includes(callNotFound().message))
    assert.equal(ended.length, 0)
  })

  it('needs a key', async () => {
    for (const response of [await hangUp(ID, {}), await remove(ID, {})])
      assert.equal(response.statusCode, 401)
  })

  it('passes other errors on as they are', async () => {
    const broken = await listener()
    const failing: CallService = {
      create: calls.create,
      hangUp() {
        throw new EdgeError('draining', 'going')
      },
    }
    await registerCalls(broken, { calls: failing, authenticate })
    const response = await broken.inject({
      method: 'DELETE',
      url: `/v1/realtime/calls/${'x'.repeat(9)}`,
      headers: sdp,
    })
    assert.match(response.body, /going/)
    await broken.close()
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
      await http.inject({ method: 'DELETE', url: '/v1/realtime/calls/x', headers: from }),
    ]
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [201, 401, 415, 405, 404],
    )
    for (const { headers } of answers) assert.equal(headers['access-control-allow-origin'], ORIGIN)
    assert.match(String(answers[0]!.headers['access-control-expose-headers']), /Location/)
  })

  it('are told by a preflight what they may do', async () => {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'DELETE' }
    for (const url of ['/v1/realtime/calls', `/v1/realtime/calls/${ID}`]) {
      const response = await http.inject({ method: 'OPTIONS', url, headers })
      assert.equal(response.statusCode, 204)
      assert.match(String(response.headers['access-control-allow-methods']), /POST.*DELETE/)
    }
  })
})

describe('other methods', () => {
  const paths = [
    ['/v1/realtime/calls', 'POST'],
    [`/v1/realtime/calls/${ID}/hangup`, 'POST'],
    [`/v1/realtime/calls/${ID}`, 'DELETE'],
  ] as const
  for (const [url, allowed] of paths) {
    it(`are refused with Allow: ${allowed} (${url.replace(ID, '{id}')})`, async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'] as const) {
        if (method === allowed) continue
        const response = await http.inject({ method, url, headers: { 'content-type': 'text/html' } })
        assert.equal(response.statusCode, 405, method)
        assert.equal(response.headers.allow, `${allowed}, OPTIONS`)
      }
      assert.equal(ended.length + created.length, 0)
    })
  }
})
