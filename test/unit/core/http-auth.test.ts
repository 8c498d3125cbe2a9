import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { EdgeError } from '../../../core/errors.ts'
import { authenticator, givenKey } from '../../../core/http-auth.ts'

const KEY = 'alice-secret-0123456789'
const UPGRADE = { connection: 'upgrade', upgrade: 'websocket' }

/** Who asks, and with what. */
async function ask(headers: Record<string, string>): Promise<{ key: string | undefined; name: string }> {
  const app = Fastify()
  const { authenticate } = authenticator({ alice: KEY })
  app.get('/', async (request) => {
    const key = givenKey(request)
    try {
      return { key, name: authenticate(request).name }
    } catch (error) {
      assert.ok(error instanceof EdgeError && error.code === 'unauthorized')
      return { key, name: 'nobody' }
    }
  })
  const { key, name } = (await app.inject({ url: '/', headers })).json()
  return { key, name }
}

const ROWS: readonly [what: string, headers: Record<string, string>, key: string | undefined][] = [
  ['nothing', {}, undefined],
  ['a bearer', { authorization: `bearer  ${KEY} ` }, KEY],
  ['another scheme', { authorization: `Basic ${KEY}` }, undefined],
  ['what Azure’s clients send', { 'api-key': KEY }, KEY],
  ['an empty api-key', { 'api-key': '' }, undefined],
  ['a bearer before an api-key', { authorization: `Bearer ${KEY}`, 'api-key': 'other' }, KEY],
  ['a bad Authorization, which no api-key mends', { authorization: 'x', 'api-key': KEY }, undefined],
  [
    'a page’s WebSocket',
    { ...UPGRADE, 'sec-websocket-protocol': `realtime, openai-insecure-api-key.${KEY},x` },
    KEY,
  ],
  [
    'a subprotocol without a key in it',
    { ...UPGRADE, 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.' },
    undefined,
  ],
  [
    'a subprotocol without a WebSocket',
    { 'sec-websocket-protocol': `openai-insecure-api-key.${KEY}` },
    undefined,
  ],
]

for (const [what, headers, key] of ROWS) {
  test(`the key in a request: ${what}`, async () => {
    assert.deepEqual(await ask(headers), { key, name: key === undefined ? 'nobody' : 'alice' })
  })
}
