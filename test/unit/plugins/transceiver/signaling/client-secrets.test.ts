/** Client secrets: made with a key, used in its place, over in time. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { authenticator } from '../../../../../core/http-auth.ts'
import { EdgeError, type JsonObject } from '../../../../../core/index.ts'
import { SealedTokens } from '../../../../../plugins/transceiver/signaling/sealed-tokens.ts'
import { allRoutes, SECRET } from './all-routes.ts'
import { ID, OneCall } from './support.ts'

const SESSION = { type: 'realtime', model: 'gpt', instructions: 'be kind', audio: { output: { voice: 'a' } } }

async function ask(
  http: FastifyInstance,
  key: string,
  path: string,
  body?: unknown,
  type = 'application/json',
) {
  const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': type }) }
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await http.inject({
    method: 'POST',
    url: `/v1/realtime/${path}`,
    headers,
    ...(body === undefined ? {} : { payload }),
  })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

const start = async (http: FastifyInstance, key: string, query = '') =>
  http.inject({
    method: 'POST',
    url: `/v1/realtime/calls${query}`,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/sdp' },
    payload: 'v=0',
  })

describe('a client secret', () => {
  it('is made in the shape of OpenAI’s API, tells nobody what is in it, and starts calls', async () => {
    const calls = new OneCall()
    const http = await allRoutes(calls)
    const { status, headers, body } = await ask(http, 'alice', 'client_secrets', { session: SESSION })
    assert.equal(status, 200)
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(body.value, /^ek_[\w.-]+$/)
    assert.equal(body.session.instructions, 'be kind')
    assert.equal(body.session.object, 'realtime.session')
    assert.ok(Math.abs(body.expires_at - Date.now() / 1000 - 600) < 5)
    for (const part of body.value.slice(3).split('.')) {
      assert.doesNotMatch(Buffer.from(part, 'base64url').toString('latin1'), /kind|alice|gpt/)
    }
    for (let i = 0; i < 2; i++) assert.equal((await start(http, body.value)).statusCode, 201)
    const { caller, ...rest } = calls.created[1]!
    assert.equal(caller.name, 'alice')
    assert.match(caller.clientSecret ?? '', /^[\da-f-]{36}$/)
    assert.deepEqual(rest, { sdp: 'v=0', model: 'gpt', session: SESSION })
    await http.close()
  })

  it('may be asked for without a word, and in the older shape', async () => {
    const calls = new OneCall()
    const http = await allRoutes(calls)
    const bare = await ask(http, 'alice', 'client_secrets')
    assert.equal(bare.body.session.type, 'realtime')
    await start(http, bare.body.value, '?model=m')
    assert.deepEqual([calls.created[0]?.model, calls.created[0]?.session], ['m', undefined])
    const legacy = await ask(http, 'alice', 'sessions', { model: 'old', voice: 'verse' })
    assert.equal(legacy.status, 200)
    const { client_secret: secret, id, ...shown } = legacy.body
    assert.match(id, /^sess_/)
    assert.deepEqual(shown, { model: 'old', voice: 'verse', object: 'realtime.session' })
    assert.ok(secret.expires_at > Date.now() / 1000)
    await start(http, secret.value)
    assert.deepEqual(calls.created[1]?.session, { model: 'old', voice: 'verse' })
    await http.close()
  })

  it('leaves the client the last word on its session', async () => {
    const calls = new OneCall()
    const http = await allRoutes(calls)
    const { body } = await ask(http, 'alice', 'client_secrets', { session: SESSION })
    const boundary = 'multipart/form-data; boundary=b'
    const part = (name: string, text: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
    const own = JSON.stringify({ model: 'mine', audio: { input: {} }, __proto__: 1 })
    const form = `${part('sdp', 'v=0')}${part('session', own)}--b--\r\n`
    assert.equal(await ask(http, body.value, 'calls', form, boundary).catch(() => undefined), undefined)
    assert.deepEqual(calls.created[0]?.session, {
      ...SESSION,
      model: 'mine',
      audio: { output: { voice: 'a' }, input: {} },
    })
    assert.equal(calls.created[0]?.model, 'mine')
    await http.close()
  })

  it('opens no others, and nothing once it is over, changed, or made elsewhere', async () => {
    const http = await allRoutes(new OneCall())
    const { body } = await ask(http, 'alice', 'client_secrets')
    for (const path of ['client_secrets', 'sessions']) {
      const { status, body: refused } = await ask(http, body.value, path, {})
      assert.deepEqual([status, refused.error.code], [403, 'forbidden'])
    }
    const content = { name: 'alice', session: {} }
    const past = new SealedTokens([SECRET], () => Date.now() - 11_000)
    const elsewhere = new SealedTokens(['another-secret-of-another-process'])
    const ended = await past.seal('client_secret', content, 10)
    const foreign = await elsewhere.seal('client_secret', content, 10)
    const other = await new SealedTokens([SECRET]).seal('session', content, 10)
    const changed = `${body.value.slice(0, -2)}${body.value.endsWith('AA') ? 'BB' : 'AA'}`
    const unsigned = `ek_${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`
    for (const bad of [ended.value, foreign.value, other.value, changed, unsigned, 'ek_', 'ek_x.y.z']) {
      const response = await start(http, bad)
      assert.equal(response.statusCode, 401, bad)
      assert.match(response.json().error.message, bad === ended.value ? /expired/ : /not known/)
    }
    await http.close()
  })

  it('goes with the key that it was made with, and so does a session', async () => {
    const tokens = new SealedTokens([SECRET])
    const http = await allRoutes(new OneCall())
    const anonymous = await allRoutes(new OneCall(), { authenticator: authenticator({}) })
    for (const name of ['mallory', 'alice', 'anonymous']) {
      const secret = await tokens.seal('client_secret', { name, session: {} }, 10)
      const session = await tokens.seal('session', { name, session: {} }, 10)
      const url = `/sessions/${session.value}/api/offer`
      const payload = { sdp: 'v=0', type: 'offer' }
      for (const [edge, known] of [
        [http, 'alice'],
        [anonymous, 'anonymous'],
      ] as const) {
        const byBoth = [
          await start(edge, secret.value),
          await edge.inject({ method: 'POST', url, payload }),
        ] as const
        assert.deepEqual(
          byBoth.map(({ statusCode }) => statusCode),
          known === name ? [201, 200] : [401, 401],
          name,
        )
      }
    }
    await http.close()
    await anonymous.close()
  })

  it('is taken by every process that has its key among others, so that keys can change', async () => {
    const old = await new SealedTokens(['old-secret']).seal('client_secret', { name: 'a', session: {} }, 10)
    const both = new SealedTokens(['new-secret', 'old-secret'])
    assert.equal((await both.open('client_secret', old.value)).name, 'a')
    const fresh = await both.seal('client_secret', { name: 'a', session: {} }, 10)
    await assert.rejects(new SealedTokens(['old-secret']).open('client_secret', fresh.value), EdgeError)
  })

  it('asks about and ends the calls that were made with it, and no others of its key', async () => {
    const calls = new OneCall()
    const http = await allRoutes(calls)
    const { body } = await ask(http, 'alice', 'client_secrets')
    const headers = { authorization: `Bearer ${body.value}` }
    const response = await http.inject({ method: 'DELETE', url: `/v1/realtime/calls/${ID}`, headers })
    assert.equal(response.statusCode, 200)
    assert.match(calls.asked.at(-1)?.clientSecret ?? '', /-/)
    await http.close()
  })

  const refused: readonly [what: string, body: unknown, param: string | null][] = [
    ['too short a life', { expires_after: { anchor: 'created_at', seconds: 9 } }, 'expires_after.seconds'],
    ['too long a life', { expires_after: { seconds: 7201 } }, 'expires_after.seconds'],
    ['half a second', { expires_after: { seconds: 10.5 } }, 'expires_after.seconds'],
    ['a life in words', { expires_after: { seconds: '60' } }, 'expires_after.seconds'],
    ['another anchor', { expires_after: { anchor: 'last_active_at' } }, 'expires_after.anchor'],
    ['no object', { expires_after: 60 }, 'expires_after'],
    ['a session that is none', { session: 'x' }, 'session'],
    ['a session that is too large', { session: { instructions: 'x'.repeat(16_400) } }, 'session'],
    ['no JSON', '{', 'body'],
    ['a list', [], 'body'],
  ]
  for (const [what, body, param] of refused) {
    it(`is refused: ${what}`, async () => {
      const http = await allRoutes(new OneCall(), {}, { bodyLimit: 65_536 })
      const answer = await ask(http, 'alice', 'client_secrets', body)
      assert.deepEqual(
        [answer.status, answer.body.error.code, answer.body.error.param],
        [400, 'bad_request', param],
      )
      await http.close()
    })
  }

  it('needs a key, and JSON', async () => {
    const http = await allRoutes(new OneCall())
    assert.equal((await ask(http, 'mallory', 'client_secrets', {})).status, 401)
    assert.equal((await ask(http, 'alice', 'client_secrets', 'x', 'text/plain')).status, 415)
    await http.close()
  })

  it('carries 16 KiB of session in a header', async () => {
    const calls = new OneCall()
    const http = await allRoutes(calls, {}, { bodyLimit: 65_536 })
    const session: JsonObject = { instructions: 'x'.repeat(16_300) }
    const { body } = await ask(http, 'alice', 'client_secrets', { session })
    const origin = await http.listen({ host: '127.0.0.1', port: 0 })
    const response = await fetch(`${origin}/v1/realtime/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.value}`, 'content-type': 'application/sdp' },
      body: 'v=0',
    })
    assert.equal(response.status, 201)
    assert.deepEqual(calls.created[0]?.session, session)
    await http.close()
  })
})
