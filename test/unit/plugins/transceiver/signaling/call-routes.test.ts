/** What is asked of a call by its id: who may, what is said, and where a request for another owner's call goes. */

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { EdgeError } from '../../../../../core/index.ts'
import type { AskedCall } from '../../../../../plugins/transceiver/signaling/by-call-id.ts'
import { registerCallRoutes } from '../../../../../plugins/transceiver/signaling/call-routes.ts'
import { callNotFound } from '../../../../../plugins/transceiver/signaling/call-service.ts'
import { authenticate, BODY_LIMIT, DESCRIBED, ID, listener, OneCall, ORIGIN } from './support.ts'

const alice = { authorization: 'Bearer alice', 'content-type': 'application/sdp' }

let http: FastifyInstance
let calls: OneCall

before(async () => {
  http = await listener()
  await registerCallRoutes(http, {
    calls: {
      create: (request) => calls.create(request),
      hangUp: (id, caller) => calls.hangUp(id, caller),
      describe: (id, caller) => calls.describe(id, caller),
      reach: (id, caller) => calls.reach(id, caller),
    },
    door: { identify: authenticate },
  })
})

after(() => http.close())

beforeEach(() => {
  calls = new OneCall()
})

const at = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  headers: Record<string, string>,
  payload?: string,
) => http.inject({ method, url: `/v1/realtime/calls/${path}`, headers, ...(payload ? { payload } : {}) })
const hangUp = (id: string, headers: Record<string, string> = alice, payload?: string) =>
  at('POST', `${id}/hangup`, headers, payload)
const remove = (id: string, headers: Record<string, string> = alice) => at('DELETE', id, headers)
const look = (id: string, headers: Record<string, string> = alice) => at('GET', id, headers)

describe('ending a call', () => {
  it('hangs up by POST and by DELETE, whatever body the client sends', async () => {
    const json = { authorization: 'Bearer alice', 'content-type': 'application/json' }
    const bare = { authorization: 'Bearer alice' }
    const responses = [
      await hangUp(ID, bare),
      await hangUp(ID, json),
      await hangUp(ID, json, '{}'),
      await hangUp(ID, alice, 'x'),
      await hangUp(ID, { ...bare, 'content-type': '' }),
      await hangUp(ID, { ...bare, 'content-type': 'foo' }, 'x'),
      await remove(ID, bare),
      await remove(ID, json),
    ]
    for (const response of responses) {
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json(), {})
    }
    assert.equal(calls.ended.length, responses.length)
  })

  it('tells an unknown, a malformed and another caller’s id apart for nobody', async () => {
    const bob = { ...alice, authorization: 'Bearer bob' }
    const unknown = ID.replace('a1', 'a2')
    const seen = new Set<string>()
    for (const [id, headers] of [
      [ID, bob],
      [unknown, alice],
      ['nonsense', alice],
      ['%00', alice],
      ['..%2f', alice],
    ] as const) {
      for (const response of [
        await hangUp(id, headers),
        await remove(id, headers),
        await look(id, headers),
      ]) {
        assert.equal(response.statusCode, 404)
        const { date: _date, ...others } = response.headers
        seen.add(response.body + JSON.stringify(others))
      }
    }
    assert.equal(seen.size, 1)
    assert.ok([...seen][0]!.includes(callNotFound().message))
    assert.equal(calls.ended.length, 0)
  })

  it('needs a key', async () => {
    for (const response of [await hangUp(ID, {}), await remove(ID, {}), await look(ID, {})])
      assert.equal(response.statusCode, 401)
  })

  it('passes other errors on as they are', async () => {
    const broken = await listener()
    const failing = new OneCall()
    failing.hangUp = () => {
      throw new EdgeError('draining', 'going')
    }
    await registerCallRoutes(broken, { calls: failing, door: { identify: authenticate } })
    const response = await broken.inject({
      method: 'DELETE',
      url: `/v1/realtime/calls/${'x'.repeat(9)}`,
      headers: alice,
    })
    assert.match(response.body, /going/)
    await broken.close()
  })
})

describe('asking about a call', () => {
  it('answers with what the service says, for nobody to keep', async () => {
    const response = await look(ID)
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['content-type'], 'application/json')
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.deepEqual(response.json(), DESCRIBED)
  })
})

describe('a call of another owner', () => {
  /** A listener whose door passes on what `elsewhere` says. */
  async function door(elsewhere: (asked: AskedCall) => boolean | EdgeError) {
    const passed: { asked: AskedCall; body: unknown }[] = []
    const own = await listener()
    await registerCallRoutes(own, {
      calls,
      door: {
        identify: async (request) => authenticate(request),
        async passOn(request, reply, asked) {
          const answer = elsewhere(asked)
          if (answer instanceof EdgeError) throw answer
          if (answer) {
            passed.push({ asked, body: request.body })
            reply.code(202).send('from the owner')
          }
          return answer
        },
      },
    })
    const ask = (headers: Record<string, string>, payload?: string) =>
      own.inject({
        method: 'POST',
        url: `/v1/realtime/calls/${ID}/hangup`,
        headers,
        ...(payload ? { payload } : {}),
      })
    return { own, passed, ask }
  }

  it('is passed on with its body as it came, and its owner’s answer is the answer', async () => {
    const { own, passed, ask } = await door(() => true)
    const answer = await ask({ ...alice, 'content-type': 'application/json' }, '{ "a":1}')
    assert.equal(answer.statusCode, 202)
    assert.equal(answer.body, 'from the owner')
    assert.deepEqual(passed, [
      { asked: { id: ID, caller: { name: 'alice' } }, body: Buffer.from('{ "a":1}') },
    ])
    assert.equal(calls.ended.length, 0)
    await own.close()
  })

  it('is passed on for nobody who is unknown, and not with more than fits', async () => {
    const { own, passed, ask } = await door(() => true)
    assert.equal((await ask({})).statusCode, 401)
    assert.equal((await ask(alice, 'x'.repeat(BODY_LIMIT + 1))).statusCode, 413)
    assert.equal(passed.length, 0)
    await own.close()
  })

  it('is told from our own by the door alone', async () => {
    const { own, ask } = await door(() => false)
    assert.equal((await ask(alice)).statusCode, 200)
    assert.deepEqual(calls.ended, [ID])
    await own.close()
  })

  it('whose owner cannot be reached is worth another try', async () => {
    const { own, ask } = await door(() => new EdgeError('too_many_calls', 'not now'))
    const answer = await ask(alice)
    assert.equal(answer.statusCode, 503)
    assert.ok(answer.headers['retry-after'])
    await own.close()
  })
})

describe('web pages from elsewhere', () => {
  it('may read every answer', async () => {
    const from = { ...alice, origin: ORIGIN }
    const answers = [await remove('x', from), await look(ID, from), await look(ID, { origin: ORIGIN })]
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [404, 200, 401],
    )
    for (const { headers } of answers) assert.equal(headers['access-control-allow-origin'], ORIGIN)
  })

  it('are told by a preflight what they may do', async () => {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'DELETE' }
    const response = await http.inject({ method: 'OPTIONS', url: `/v1/realtime/calls/${ID}`, headers })
    assert.equal(response.statusCode, 204)
    assert.match(String(response.headers['access-control-allow-methods']), /POST.*DELETE/)
  })
})

describe('other methods', () => {
  const paths = [
    [`/v1/realtime/calls/${ID}/hangup`, ['POST']],
    [`/v1/realtime/calls/${ID}`, ['GET', 'DELETE']],
  ] as const
  for (const [url, allowed] of paths) {
    it(`are refused with Allow: ${allowed} (${url.replace(ID, '{id}')})`, async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'] as const) {
        if (allowed.some((one) => one === method)) continue
        const response = await http.inject({ method, url, headers: { 'content-type': 'text/html' } })
        assert.equal(response.statusCode, 405, method)
        assert.equal(response.headers.allow, `${allowed.join(', ')}, OPTIONS`)
      }
      assert.equal(calls.ended.length, 0)
    })
  }
})
