/** WHIP's routes (RFC 9725): endpoints and sessions. */

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { readSdpFragment, SDP_FRAGMENT } from '../../../../../plugins/transceiver/signaling/sdp-fragment.ts'
import { allRoutes } from './all-routes.ts'
import { ANSWER, ID, OneCall, ORIGIN } from './support.ts'

const alice = { authorization: 'Bearer alice', origin: ORIGIN }
const SESSION = `/whip/s/${ID}`
const CURRENT = `a=ice-ufrag:abcd\r\na=ice-pwd:${'p'.repeat(22)}\r\n`
const CANDIDATE = 'a=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host'
const TRICKLE = `${CURRENT}m=audio 9 RTP/AVP 0\r\na=mid:0\r\n${CANDIDATE}\r\na=end-of-candidates\r\n`
const RESTART = `a=ice-ufrag:efgh\r\na=ice-pwd:${'n'.repeat(22)}\r\n`

let http: FastifyInstance
let calls: OneCall

before(async () => {
  const service = new OneCall()
  service.create = (request) => calls.create(request)
  service.hangUp = (id, caller) => calls.hangUp(id, caller)
  service.reach = (id, caller) => calls.reach(id, caller)
  http = await allRoutes(service)
})

after(() => http.close())

beforeEach(() => {
  calls = new OneCall()
})

const ask = (method: NonNullable<InjectOptions['method']>, url: string, headers: object, payload?: string) =>
  http.inject({
    method,
    url,
    headers: { ...alice, ...headers },
    ...(payload === undefined ? {} : { payload }),
  })
const post = (url = '/whip', type = 'application/sdp') =>
  ask('POST', url, { 'content-type': type }, 'v=0\r\n')
const patch = (body: string, headers: object = { 'if-match': '"tag1"' }, url = SESSION) =>
  ask('PATCH', url, { 'content-type': SDP_FRAGMENT, ...headers }, body)

describe('a WHIP endpoint', () => {
  it('starts a call: 201, where its session is, and a strong entity tag', async () => {
    const response = await post()
    assert.equal(response.statusCode, 201)
    assert.equal(response.headers['content-type'], 'application/sdp')
    assert.equal(response.headers['content-length'], String(ANSWER.length))
    assert.equal(response.headers.location, SESSION)
    assert.equal(response.headers.etag, '"tag1"')
    assert.equal(response.headers['accept-patch'], SDP_FRAGMENT)
    assert.equal(response.body, ANSWER)
    const exposed = String(response.headers['access-control-expose-headers'])
    for (const header of ['Location', 'ETag', 'Link', 'Accept-Post', 'Access-Control-Allow-Methods']) {
      assert.ok(exposed.includes(header), header)
    }
  })

  it('takes the app for the model, unless the query names one', async () => {
    for (const url of ['/whip', '/whip/kitchen', '/whip/kitchen?model=cook']) {
      assert.equal((await post(url)).statusCode, 201)
    }
    assert.deepEqual(
      calls.created.map(({ model }) => model),
      [undefined, 'kitchen', 'cook'],
    )
  })

  it('refuses what is no SDP, and who has no key', async () => {
    for (const type of ['text/plain', 'multipart/form-data; boundary=b', '']) {
      assert.equal((await post('/whip', type)).statusCode, 415)
    }
    assert.equal((await ask('POST', '/whip', { 'content-type': 'application/sdp' }, '')).statusCode, 400)
    const stranger = await ask(
      'POST',
      '/whip',
      { authorization: 'Bearer x', 'content-type': 'application/sdp' },
      'v=0',
    )
    assert.equal(stranger.statusCode, 401)
    assert.equal(stranger.headers['www-authenticate'], 'Bearer')
    assert.equal(stranger.headers['access-control-allow-origin'], ORIGIN)
  })

  it('tells OPTIONS what it takes, to a preflight and to a client with a key', async () => {
    for (const headers of [{ 'access-control-request-method': 'POST' }, {}, { origin: '' }]) {
      for (const url of ['/whip', '/whip/kitchen']) {
        const response = await ask('OPTIONS', url, headers)
        assert.equal(response.statusCode, 204)
        assert.equal(response.headers['accept-post'], 'application/sdp')
        assert.match(String(response.headers.allow), /POST/)
        if (!('origin' in headers)) {
          assert.match(String(response.headers['access-control-allow-methods']), /PATCH.*DELETE/)
          assert.match(
            String(response.headers['access-control-expose-headers']),
            /Access-Control-Allow-Methods/,
          )
        }
      }
    }
  })

  it('has no content for GET yet, and no other methods', async () => {
    for (const url of ['/whip', SESSION]) {
      const response = await ask('GET', url, {})
      assert.deepEqual([response.statusCode, response.body], [204, ''])
      assert.equal((await ask('HEAD', url, {})).statusCode, 204)
      assert.equal((await ask('PUT', url, {})).statusCode, 405)
    }
  })
})

describe('a WHIP session', () => {
  it('takes trickled candidates: 204, and no entity tag', async () => {
    for (const body of [TRICKLE, CURRENT, `m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n${CANDIDATE}`, '']) {
      const response = await patch(body)
      assert.equal(response.statusCode, 204, response.body)
      assert.equal(response.headers.etag, undefined)
    }
    assert.equal(calls.reached.generation, 1)
  })

  it('restarts ICE: 200 with our credentials and candidates, and another entity tag', async () => {
    for (const [match, ufrag] of [
      ['*', 'efgh'],
      ['"tag2"', 'ijkl'],
    ] as const) {
      const response = await patch(RESTART.replace('efgh', ufrag), { 'if-match': match })
      assert.equal(response.statusCode, 200)
      assert.equal(response.headers['content-type'], SDP_FRAGMENT)
      const { generation } = calls.reached
      assert.equal(response.headers.etag, `"tag${generation}"`)
      assert.deepEqual(readSdpFragment(response.body).credentials, {
        ufrag: `ours${generation}`,
        pwd: 'q'.repeat(32),
      })
      assert.match(response.body, /a=mid:0\r\na=candidate:1 1 udp \d+ 192\.0\.2\.1 3478 typ host\r\n/)
      assert.match(response.body, /\r\n$/)
    }
    assert.equal(
      (await patch(TRICKLE, { 'if-match': '"tag3"' })).statusCode,
      200,
      'credentials of before are others',
    )
  })

  it('signaling 25: without If-Match → 428, with one that is over → 412, and nothing is done', async () => {
    for (const headers of [{}, { 'if-match': '' }, { 'if-match': ' ' }]) {
      const response = await patch(RESTART, headers)
      assert.equal(response.statusCode, 428)
      assert.equal(response.json().error.code, 'precondition_required')
      assert.equal(response.headers['access-control-allow-origin'], ORIGIN)
    }
    for (const match of ['"tag0"', 'W/"tag1"', 'tag1', '"*"']) {
      const response = await patch(RESTART, { 'if-match': match })
      assert.equal(response.statusCode, 412, match)
      assert.equal(response.json().error.code, 'precondition_failed')
    }
    assert.equal(calls.reached.generation, 1)
    assert.equal((await patch(RESTART, { 'if-match': '"other", "tag1"' })).statusCode, 200)
  })

  it('understands the client that says ETag where it means If-Match', async () => {
    assert.equal((await patch('', { etag: '"tag1"' })).statusCode, 204)
    assert.equal((await patch('', { etag: '"tag0"' })).statusCode, 412)
  })

  it('refuses another content type, and what is no fragment', async () => {
    assert.equal(
      (await patch(TRICKLE, { 'if-match': '*', 'content-type': 'application/sdp' })).statusCode,
      415,
    )
    for (const body of [
      'hello',
      'a=ice-ufrag:efgh\r\n',
      `a=ice-ufrag:ef\r\na=ice-pwd:${'n'.repeat(22)}\r\n`,
      'a=ice-ufrag:efgh\r\na=ice-pwd:short\r\n',
      'm=audio\r\n',
      'a=candidate:nonsense\r\n',
      'a=x\r\n'.repeat(520),
    ]) {
      const response = await patch(body, { 'if-match': '*' })
      assert.equal(response.statusCode, 400, body.slice(0, 40))
      assert.equal(response.json().error.code, 'bad_request')
    }
    assert.equal(calls.reached.generation, 1)
  })

  it('ends by DELETE, whatever entity tag is sent: 200', async () => {
    const response = await ask('DELETE', SESSION, { 'if-match': '"old"' })
    assert.equal(response.statusCode, 200)
    assert.deepEqual(calls.ended, [ID])
  })

  it('is nobody else’s: 404, in the same words as for none', async () => {
    const bob = { authorization: 'Bearer bob', 'if-match': '*' }
    const said = new Set<string>()
    for (const [url, headers] of [
      [SESSION, bob],
      ['/whip/s/nonsense', { 'if-match': '*' }],
    ] as const) {
      for (const response of [
        await patch(TRICKLE, headers, url),
        await ask('DELETE', url, headers),
        await ask('GET', url, headers),
      ]) {
        assert.equal(response.statusCode, 404)
        said.add(response.body)
      }
    }
    assert.equal(said.size, 1)
    assert.equal((await ask('DELETE', SESSION, { authorization: '' })).statusCode, 401)
  })
})
