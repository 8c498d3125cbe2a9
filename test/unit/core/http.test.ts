import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { EdgeError } from '../../../core/errors.ts'
import { start } from '../../../core/host.ts'
import { loadedWith, plain, recordedLog } from './host-fixture.ts'

const KEYS = { alice: 'alice-secret-0123456789', bob: 'bob-secret-0123456789' }

/** An edge with routes that fail in every way there is. */
async function edgeWith(root: object = {}) {
  const { log, entries } = recordedLog()
  const routes = plain((_options, _services, { http, authenticate }) => {
    http.get('/who', async (request) => authenticate(request))
    http.get('/edge-error', async () => {
      throw new EdgeError('no_audio', 'this offer has no audio', { param: 'sdp' })
    })
    http.get('/limited', async () => {
      throw new EdgeError('rate_limited', 'too fast')
    })
    http.get('/full', async (_request, reply) => {
      reply.header('retry-after', '30')
      throw new EdgeError('too_many_calls', 'no room')
    })
    http.get('/bug', async () => {
      throw new Error('the password is hunter2')
    })
    http.get('/operator', async () => {
      throw new EdgeError('plugin_failed', 'the path is /etc/secret')
    })
    http.post('/body', async () => 'read')
    const body = { type: 'object', properties: { age: { type: 'integer' } }, required: ['age'] }
    http.post('/typed', { schema: { body } }, async () => 'read')
    http.get('/call/:id', async (request) => request.url)
    return {}
  })
  const edge = await start(loadedWith({ routes }, root), { log, env: {} })
  return { edge, entries }
}

test('every error answer has one shape, from every side', async () => {
  const { edge, entries } = await edgeWith()
  const json = { 'content-type': 'application/json' }
  const rows: [InjectOptions, number, object][] = [
    [
      { url: '/edge-error' },
      422,
      { message: 'this offer has no audio', type: 'invalid_request_error', code: 'no_audio', param: 'sdp' },
    ],
    [
      { url: '/nothing?here=1' },
      404,
      { message: 'there is no GET /nothing', type: 'invalid_request_error', code: 'not_found', param: null },
    ],
    [
      { url: '/limited' },
      429,
      { message: 'too fast', type: 'rate_limit_error', code: 'rate_limited', param: null },
    ],
    [
      { url: '/full' },
      503,
      { message: 'no room', type: 'server_error', code: 'too_many_calls', param: null },
    ],
    [
      { url: '/bug' },
      500,
      { message: 'something went wrong on our side', type: 'server_error', code: 'internal', param: null },
    ],
    [
      { url: '/operator' },
      500,
      {
        message: 'something went wrong on our side',
        type: 'server_error',
        code: 'plugin_failed',
        param: null,
      },
    ],
    [
      { url: '/body', method: 'POST', headers: json, payload: 'x'.repeat(70_000) },
      413,
      {
        message: 'the body is too large',
        type: 'invalid_request_error',
        code: 'payload_too_large',
        param: null,
      },
    ],
    [
      { url: '/body', method: 'POST', headers: { 'content-type': 'text/strange' }, payload: 'x' },
      415,
      {
        message: 'this content type is not served here',
        type: 'invalid_request_error',
        code: 'unsupported_media_type',
        param: null,
      },
    ],
    [
      { url: '/typed', method: 'POST', headers: json, payload: '{"age":"old"}' },
      400,
      {
        message: 'body/age must be integer',
        type: 'invalid_request_error',
        code: 'bad_request',
        param: 'age',
      },
    ],
  ]
  for (const [request, status, error] of rows) {
    const answer = await edge.http.inject(request)
    assert.equal(answer.statusCode, status)
    assert.deepEqual(answer.json(), { error })
    assert.match(String(answer.headers['content-type']), /^application\/json/)
  }
  const broken = await edge.http.inject({ url: '/body', method: 'POST', headers: json, payload: '{' })
  assert.equal(broken.statusCode, 400)
  assert.equal(broken.json().error.code, 'bad_request')
  const badPath = await edge.http.inject({ url: '/%', headers: { origin: 'http://localhost:1' } })
  assert.equal(badPath.json().error.code, 'bad_request')
  assert.equal(badPath.headers['access-control-allow-origin'], 'http://localhost:1')
  const bug = entries.find(({ msg, route }) => msg === 'request failed' && route === '/bug')
  assert.match(JSON.stringify(bug), /hunter2/)
  await edge.close()
})

test('429 and 503 say when to come back; a handler may say so itself; neither fills the log', async () => {
  const { edge, entries } = await edgeWith()
  assert.equal((await edge.http.inject('/limited')).headers['retry-after'], '1')
  assert.equal((await edge.http.inject('/full')).headers['retry-after'], '30')
  const told = entries.filter(({ msg }) => /^request/.test(String(msg)))
  assert.deepEqual(
    told.map(({ level, code, err }) => [level, code, err]),
    [
      [20, 'rate_limited', undefined],
      [20, 'too_many_calls', undefined],
    ],
  )
  await edge.close()
})

test('what is not HTTP gets the same shape', async () => {
  const { edge } = await edgeWith()
  const socket = connect(edge.address.port, '127.0.0.1').setEncoding('utf8')
  socket.write('this is no request\r\n\r\n')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await once(socket, 'close')
  assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n/)
  assert.equal(JSON.parse(text.split('\r\n\r\n')[1]!).error.code, 'bad_request')
  await edge.close()
})

test('what is not HTTP holds no connection, though it never ends its own side', async () => {
  const { edge } = await edgeWith()
  const taken = once(edge.http.server, 'connection')
  const socket = connect({ port: edge.address.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.resume().write('this is no request\r\n\r\n')
  const [held] = await taken
  try {
    await once(held, 'close', { signal: AbortSignal.timeout(10_000) })
    assert.equal(socket.writableEnded, false)
  } finally {
    socket.destroy()
    await edge.close()
  }
})

test('a key names its caller; a missing, a wrong and a malformed one are refused', async () => {
  const { edge } = await edgeWith({ http: { listen: '127.0.0.1:0', keys: KEYS } })
  const as = (authorization?: string) =>
    edge.http.inject({ url: '/who', headers: authorization === undefined ? {} : { authorization } })
  assert.deepEqual((await as(`Bearer ${KEYS.alice}`)).json(), { name: 'alice' })
  assert.deepEqual((await as(`bearer ${KEYS.bob}`)).json(), { name: 'bob' })
  for (const wrong of [undefined, 'Bearer', `Bearer ${KEYS.alice}x`, KEYS.alice, `Basic ${KEYS.alice}`]) {
    const answer = await as(wrong)
    assert.equal(answer.statusCode, 401)
    assert.equal(answer.json().error.code, 'unauthorized')
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
    assert.doesNotMatch(answer.body, /secret-0123/)
  }
  await edge.close()
})

test('without keys everybody is anonymous', async () => {
  const { edge } = await edgeWith()
  assert.deepEqual((await edge.http.inject('/who')).json(), { name: 'anonymous', ip: '127.0.0.1' })
  await edge.close()
})

test('CORS is on every public answer, for listed origins alone', async () => {
  const origins = ['https://app.example', 'http://localhost:*']
  const { edge } = await edgeWith({ http: { listen: '127.0.0.1:0', keys: KEYS, origins } })
  for (const url of ['/who', '/nothing', '/bug', '/limited', '/livez', '/full']) {
    for (const origin of ['https://app.example', 'http://localhost:5173', 'http://localhost']) {
      const { headers } = await edge.http.inject({ url, headers: { origin } })
      assert.equal(headers['access-control-allow-origin'], origin, `${url} for ${origin}`)
      assert.match(String(headers['access-control-expose-headers']), /Location.*Retry-After/)
    }
    for (const origin of [
      'https://app.example.evil.test',
      'https://localhost:1',
      'http://localhost.evil.test:1',
    ]) {
      const { headers } = await edge.http.inject({ url, headers: { origin } })
      assert.equal(headers['access-control-allow-origin'], undefined, `${url} for ${origin}`)
    }
  }
  await edge.close()
})

test('a preflight lists the methods and headers that clients send', async () => {
  const { edge } = await edgeWith()
  const answer = await edge.http.inject({
    url: '/body',
    method: 'OPTIONS',
    headers: {
      origin: 'http://localhost:3000',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,x-openai-agents-sdk',
    },
  })
  assert.equal(answer.statusCode, 204)
  assert.equal(answer.headers['access-control-allow-methods'], 'GET, POST, PATCH, DELETE, OPTIONS')
  for (const header of [
    'authorization',
    'content-type',
    'x-openai-agents-sdk',
    'if-match',
    'etag',
    'api-key',
  ]) {
    assert.match(String(answer.headers['access-control-allow-headers']), new RegExp(header))
  }
  await edge.close()
})

test('"*" lets every page read answers', async () => {
  const { edge } = await edgeWith({ http: { listen: '127.0.0.1:0', keys: KEYS, origins: ['*'] } })
  const { headers } = await edge.http.inject({ url: '/who', headers: { origin: 'https://any.example' } })
  assert.equal(headers['access-control-allow-origin'], 'https://any.example')
  await edge.close()
})

test('without keys a foreign Host or a foreign page is refused, on both listeners', async () => {
  const { edge } = await edgeWith()
  for (const listener of [edge.http, edge.admin]) {
    for (const host of ['localhost', 'localhost:8080', '127.0.0.1:1', '127.0.0.9', '[::1]:80', 'LOCALHOST']) {
      assert.equal((await listener.inject({ url: '/livez', headers: { host } })).statusCode, 200, host)
    }
    for (const host of [
      'evil.test',
      'evil.test:8080',
      'localhost.evil.test',
      '10.0.0.1',
      '127.0.0.1.evil.test',
    ]) {
      const answer = await listener.inject({ url: '/livez', headers: { host } })
      assert.equal(answer.statusCode, 403, host)
      assert.equal(answer.json().error.code, 'forbidden')
      const remedy =
        listener === edge.http ? /set http\.keys to serve other names$/ : /call it by one of these$/
      assert.match(answer.json().error.message, remedy)
    }
    const headers = { host: 'localhost:8080', origin: 'https://evil.test' }
    assert.equal((await listener.inject({ url: '/livez', headers })).statusCode, 403)
    const own = { host: 'localhost:8443', origin: 'https://localhost:8443' }
    assert.equal((await listener.inject({ url: '/livez', headers: own })).statusCode, 200)
  }
  await edge.close()
})

test('with keys any Host is served: the key is what counts', async () => {
  const { edge } = await edgeWith({ http: { listen: '127.0.0.1:0', keys: KEYS } })
  const headers = { host: 'edge.example', authorization: `Bearer ${KEYS.bob}` }
  assert.equal((await edge.http.inject({ url: '/who', headers })).statusCode, 200)
  await edge.close()
})

test('a path may hold an id of 300 characters', async () => {
  const { edge } = await edgeWith()
  const id = 'x'.repeat(300)
  assert.equal((await edge.http.inject(`/call/${id}`)).body, `/call/${id}`)
  await edge.close()
})
