/** How much one key may ask for. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import { authenticator } from '../../../../../core/http-auth.ts'
import { EdgeError } from '../../../../../core/index.ts'
import { CallQuota } from '../../../../../plugins/transceiver/signaling/limits.ts'
import { allRoutes } from './all-routes.ts'
import { ID, OneCall, ORIGIN } from './support.ts'

const as = (key: string) => ({ authorization: `Bearer ${key}`, origin: ORIGIN })

async function hangUps(http: FastifyInstance, key: string, count: number): Promise<number[]> {
  const codes = []
  for (let i = 0; i < count; i++) {
    const url = `/v1/realtime/calls/${ID}`
    codes.push((await http.inject({ method: 'DELETE', url, headers: as(key) })).statusCode)
  }
  return codes
}

describe('requests a minute', () => {
  it('are counted for each key over all routes, client secrets with the key they came from', async () => {
    const http = await allRoutes(new OneCall(), { limits: { requestsPerMinute: 3, keys: {} } })
    const made = await http.inject({
      method: 'POST',
      url: '/v1/realtime/client_secrets',
      headers: as('alice'),
    })
    assert.deepEqual(await hangUps(http, made.json().value, 1), [200])
    assert.deepEqual(await hangUps(http, 'alice', 2), [200, 429])
    assert.deepEqual(await hangUps(http, 'bob', 1), [404])
    const refused = await http.inject({
      method: 'POST',
      url: '/v1/realtime/calls',
      headers: { ...as('alice'), 'content-type': 'application/sdp' },
      payload: 'v=0',
    })
    assert.equal(refused.statusCode, 429)
    assert.deepEqual(
      [refused.json().error.code, refused.json().error.type],
      ['rate_limited', 'rate_limit_error'],
    )
    assert.match(String(refused.headers['retry-after']), /^[1-9]\d?$/)
    assert.equal(refused.headers['access-control-allow-origin'], ORIGIN)
    assert.match(String(refused.headers['access-control-expose-headers']), /Retry-After/)
    await http.close()
  })

  it('may be others for one key', async () => {
    const keys = { bob: { requestsPerMinute: 1 } }
    const http = await allRoutes(new OneCall(), { limits: { requestsPerMinute: 5, keys } })
    assert.deepEqual(await hangUps(http, 'bob', 2), [404, 429])
    assert.deepEqual(await hangUps(http, 'alice', 2), [200, 200])
    await http.close()
  })

  it('are counted by ip where there are no keys', async () => {
    const http = await allRoutes(new OneCall(), {
      limits: { requestsPerMinute: 1, keys: {} },
      authenticator: authenticator({}),
    })
    const from = (remoteAddress: string) =>
      http.inject({ method: 'DELETE', url: '/v1/realtime/calls/x', remoteAddress })
    assert.equal((await from('192.0.2.1')).statusCode, 404)
    assert.equal((await from('192.0.2.1')).statusCode, 429)
    assert.equal((await from('::ffff:192.0.2.1')).statusCode, 429)
    assert.equal((await from('192.0.2.2')).statusCode, 404)
    assert.equal((await from('2001:db8::1')).statusCode, 404)
    assert.equal((await from('2001:db8::ffff')).statusCode, 429)
    await http.close()
  })

  it('are counted by the ip that a proxy names, sidebands as all else, where that proxy is believed', async () => {
    const http = await allRoutes(
      new OneCall(),
      { limits: { requestsPerMinute: 2, keys: {} }, authenticator: authenticator({}) },
      { trustProxy: ['127.0.0.0/8'] },
    )
    const origin = (await http.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws')
    const from = (ip: string) => ({ headers: { 'x-forwarded-for': `192.0.2.9, ${ip}` } })
    const hangUp = async (ip: string) =>
      (await http.inject({ method: 'DELETE', url: '/v1/realtime/calls/x', ...from(ip) })).statusCode
    const sideband = async (ip: string): Promise<number> => {
      const socket = new WebSocket(`${origin}/v1/realtime?call_id=x`, from(ip))
      const [request, response] = await once(socket, 'unexpected-response')
      request.destroy()
      return response.statusCode
    }
    assert.deepEqual([await hangUp('192.0.2.1'), await sideband('192.0.2.1')], [404, 404])
    assert.deepEqual([await hangUp('192.0.2.1'), await sideband('192.0.2.1')], [429, 429])
    assert.deepEqual([await hangUp('192.0.2.2'), await sideband('192.0.2.2')], [404, 404])
    await http.close()
  })

  it('do not count what is refused for want of a key', async () => {
    const http = await allRoutes(new OneCall(), { limits: { requestsPerMinute: 1, keys: {} } })
    assert.deepEqual(await hangUps(http, 'mallory', 3), [401, 401, 401])
    await http.close()
  })
})

describe('calls at a time', () => {
  it('are counted for each key until they end', () => {
    const quota = new CallQuota({ callsPerKey: 2, requestsPerMinute: 1, keys: { bob: { callsPerKey: 1 } } })
    const alice = { name: 'alice', clientSecret: 'x' }
    const bob = { name: 'bob' }
    for (const caller of [alice, { name: 'alice' }, bob]) {
      quota.check(caller)
      quota.take(caller)
    }
    for (const caller of [alice, bob]) {
      assert.throws(
        () => quota.check(caller),
        (error) => error instanceof EdgeError && error.status === 429,
      )
    }
    quota.check({ name: 'constructor' })
    quota.give(alice)
    quota.check(alice)
    quota.give(bob)
    quota.give(bob)
    quota.check(bob)
  })

  it('are counted by ip where there are no keys, apart from a key that is called like who has none', () => {
    const keys = { anonymous: { callsPerKey: 9 } }
    const quota = new CallQuota({ callsPerKey: 1, requestsPerMinute: 1, keys })
    const from = (ip: string) => ({ name: 'anonymous', ip })
    const isFull = { code: 'key_limit_reached', message: /^This address may have one call/ }
    quota.take({ name: 'anonymous' })
    for (const ip of ['192.0.2.1', '2001:db8::1']) {
      quota.check(from(ip))
      quota.take(from(ip))
    }
    assert.throws(() => quota.check(from('192.0.2.1')), isFull)
    assert.throws(() => quota.check(from('2001:db8::ffff')), isFull)
    quota.check(from('192.0.2.2'))
    quota.check({ name: 'anonymous' })
    quota.give(from('::ffff:192.0.2.1'))
    quota.check(from('192.0.2.1'))
  })

  it('have no limit unless one is set', () => {
    const quota = new CallQuota({ requestsPerMinute: 1, keys: {} })
    for (let i = 0; i < 1000; i++) {
      quota.check({ name: 'a' })
      quota.take({ name: 'a' })
    }
  })
})
