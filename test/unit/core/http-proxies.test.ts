/** Behind a proxy that is believed, a request comes from who the proxy says; behind any other, from the proxy. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { start } from '../../../core/host.ts'
import { clientIp, proxyMatcher } from '../../../core/http-proxies.ts'
import { loadedWith, plain, recordedLog } from './host-fixture.ts'

/** An edge that says from where a request came; `trustProxy` as in its config. */
async function edgeBehind(trustProxy?: string[]) {
  const { log, entries } = recordedLog()
  const routes = plain((_options, _services, { http, authenticate }) => {
    http.get('/who', async (request) => authenticate(request))
    http.get('/bug', async () => {
      throw new Error('a bug')
    })
    return {}
  })
  const http = { listen: '127.0.0.1:0', ...(trustProxy ? { trustProxy } : {}) }
  const edge = await start(loadedWith({ routes }, { http }), { log, env: {} })
  const ask = (url: string, from: string, forwarded?: string) =>
    edge.http.inject({
      url,
      remoteAddress: from,
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    })
  const ipOf = async (from: string, forwarded?: string): Promise<string> =>
    (await ask('/who', from, forwarded)).json().ip
  return { edge, entries, ask, ipOf }
}

const ROWS: readonly [what: string, from: string, forwarded: string | undefined, ip: string][] = [
  ['no header', '10.0.0.5', undefined, '10.0.0.5'],
  ['an empty header', '10.0.0.5', ' ', '10.0.0.5'],
  ['one proxy', '10.0.0.5', '203.0.113.9', '203.0.113.9'],
  ['a proxy of a single address', '192.0.2.80', '203.0.113.9', '203.0.113.9'],
  ['a proxy of IPv6, and a client of it', 'fd00::1', '2001:DB8::0:9', '2001:db8::9'],
  ['a proxy as a mapped address', '::ffff:10.0.0.5', '::ffff:203.0.113.9', '203.0.113.9'],
  ['two proxies', '10.0.0.5', '203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['what the client wrote itself before the proxy did', '10.0.0.5', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['a proxy that nobody listed in between', '10.0.0.5', '203.0.113.9, 198.51.100.1', '198.51.100.1'],
  ['no proxy at all', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  ['a neighbour of the proxy', '192.0.2.81', '203.0.113.9', '192.0.2.81'],
  ['addresses with ports', '10.0.0.5', '203.0.113.9:50123, 10.1.2.3:80', '203.0.113.9'],
  ['an IPv6 address with a port', '10.0.0.5', '[2001:db8::9]:50123', '2001:db8::9'],
  ['what is no address', '10.0.0.5', 'unknown', '10.0.0.5'],
]

test('the client’s address is what proxies that are believed say, and no more than that', async () => {
  const { edge, ipOf } = await edgeBehind(['10.0.0.0/8', 'fd00::/8', '192.0.2.80'])
  for (const [what, from, forwarded, ip] of ROWS) assert.equal(await ipOf(from, forwarded), ip, what)
  await edge.close()
})

test('nobody is believed unless the config says so', async () => {
  const { edge, ipOf } = await edgeBehind()
  for (const from of ['127.0.0.1', '10.0.0.5', 'fd00::1']) assert.equal(await ipOf(from, '203.0.113.9'), from)
  await edge.close()
})

test('the log names the client, not the proxy', async () => {
  const { edge, entries, ask } = await edgeBehind(['10.0.0.0/8'])
  await ask('/bug', '10.0.0.5', '203.0.113.9')
  await ask('/nothing', '10.0.0.5', '203.0.113.10')
  const ips = ['request failed', 'request refused'].map((msg) => entries.find((one) => one.msg === msg)?.ip)
  assert.deepEqual(ips, ['203.0.113.9', '203.0.113.10'])
  await edge.close()
})

test('a request whose connection has ended comes from nowhere', async () => {
  const app = fastify({ trustProxy: proxyMatcher(['10.0.0.0/8']) })
  app.get('/', async (request) => {
    Object.defineProperty(request.raw.socket, 'remoteAddress', { value: undefined })
    return clientIp(request)
  })
  assert.equal((await app.inject({ url: '/', headers: { 'x-forwarded-for': '203.0.113.9' } })).body, '::')
  await app.close()
})

test('an empty list is no list', () => {
  assert.equal(proxyMatcher([]), false)
})
