/** Sidebands: who may listen, what they hear, and how they end. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { type ClientOptions, WebSocket } from 'ws'
import { eventually } from '../../../../../core/testing/check.ts'
import { MAX_WAITING, PING_MS } from '../../../../../plugins/transceiver/signaling/sideband.ts'
import { allRoutes } from './all-routes.ts'
import { ID, OneCall } from './support.ts'

let http: FastifyInstance
let origin: string
let calls: OneCall

before(async () => {
  const service = new OneCall()
  service.reach = (id, caller) => calls.reach(id, caller)
  http = await allRoutes(service)
  origin = (await http.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws')
})

after(() => http.close())

beforeEach(() => {
  calls = new OneCall()
})

function open(
  query: string,
  key = 'alice',
  protocols: string[] = [],
  options: ClientOptions = {},
): WebSocket {
  const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
  return new WebSocket(`${origin}/v1/realtime${query}`, protocols, { ...options, headers })
}

async function listen(): Promise<WebSocket> {
  const socket = open(`?call_id=${ID}`)
  await once(socket, 'open')
  await eventually('it has joined', () => calls.reached.listening.size > 0)
  return socket
}

/** The status and code of a refused upgrade. */
async function refusal(socket: WebSocket): Promise<[number, string]> {
  const [request, response] = await once(socket, 'unexpected-response')
  let text = ''
  for await (const part of response) text += part
  request.destroy()
  return [response.statusCode, JSON.parse(text).error.code]
}

describe('a sideband', () => {
  it('hears events and speaks as the client does', async () => {
    const socket = await listen()
    for (const listener of calls.reached.listening) listener.onEvent('{"type":"session.created"}')
    assert.equal(String((await once(socket, 'message'))[0]), '{"type":"session.created"}')
    socket.send('{"type":"response.create"}')
    await eventually('it is heard', () => calls.reached.sent.length === 1)
    assert.deepEqual(calls.reached.sent, [{ type: 'response.create' }])
    socket.close()
    await eventually('it has left', () => calls.reached.listening.size === 0)
  })

  it('is heard whole when it says too much, and no faster than its call may', async () => {
    const spent: number[] = []
    calls.reached.budget = {
      spend: (_now, bytes) => {
        spent.push(bytes)
        return spent.length === 5 ? 30 : 0
      },
    }
    const socket = await listen()
    const events = Array.from({ length: 20 }, (_, n) => ({ type: 'x', n }))
    for (const event of events) socket.send(JSON.stringify(event))
    await eventually('it is not read', () => [...http.websocketServer.clients].some((one) => one.isPaused))
    await eventually('all of it is heard', () => calls.reached.sent.length === 20)
    assert.deepEqual(calls.reached.sent, events)
    assert.deepEqual(
      spent,
      events.map((event) => JSON.stringify(event).length),
    )
    socket.terminate()
  })

  it('is told of what is no event', async () => {
    const socket = await listen()
    for (const text of ['hello', '[]', Buffer.from('{}'), `${'['.repeat(70)}`]) {
      socket.send(text)
      const event = JSON.parse(String((await once(socket, 'message'))[0]))
      assert.deepEqual([event.type, event.error.code], ['error', 'bad_request'])
    }
    assert.equal(calls.reached.sent.length, 0)
    socket.terminate()
  })

  it('is closed at the call’s end, with the reason', async () => {
    for (const [failed, code] of [
      [false, 1000],
      [true, 1011],
    ] as const) {
      const socket = await listen()
      for (const listener of calls.reached.listening) listener.onEnd('peer_closed', failed)
      const [closed, reason] = await once(socket, 'close')
      assert.deepEqual([closed, String(reason)], [code, 'peer_closed'])
      calls.reached.listening.clear()
    }
  })

  it('may give its key as a subprotocol, as a page must', async () => {
    const secret = await http.inject({
      method: 'POST',
      url: '/v1/realtime/client_secrets',
      headers: { authorization: 'Bearer alice' },
    })
    const socket = open(`?call_id=${ID}`, '', ['realtime', `openai-insecure-api-key.${secret.json().value}`])
    await once(socket, 'open')
    assert.equal(socket.protocol, 'realtime')
    await eventually('it has joined', () => calls.reached.listening.size > 0)
    assert.ok(calls.asked.at(-1)?.clientSecret)
    socket.terminate()
  })

  it('is refused before the upgrade, with the error that every client understands', async () => {
    assert.deepEqual(await refusal(open(`?call_id=${ID}`, '')), [401, 'unauthorized'])
    assert.deepEqual(await refusal(open(`?call_id=${ID}`, 'bob')), [404, 'call_not_found'])
    assert.deepEqual(await refusal(open('?call_id=rtc_x')), [404, 'call_not_found'])
    assert.deepEqual(await refusal(open('?call_id=a&call_id=b')), [404, 'call_not_found'])
    assert.deepEqual(await refusal(open('?model=gpt-realtime')), [501, 'not_implemented'])
    assert.deepEqual(await refusal(open('')), [501, 'not_implemented'])
    const plain = await http.inject({
      url: `/v1/realtime?call_id=${ID}`,
      headers: { authorization: 'Bearer alice' },
    })
    assert.deepEqual([plain.statusCode, plain.json().error.code], [400, 'bad_request'])
    assert.equal(calls.reached.listening.size, 0)
  })

  it('that does not read is cut off, both ways, and costs no memory', async () => {
    const socket = await listen()
    socket.pause()
    const text = `{"x":"${'x'.repeat(100_000)}"}`
    let sent = 0
    while (calls.reached.listening.size > 0) {
      for (const listener of calls.reached.listening) listener.onEvent(text)
      sent += text.length
      assert.ok(sent < 64 * MAX_WAITING, 'it is never cut off')
      await new Promise(setImmediate)
    }
    socket.send('{"type":"response.create"}')
    socket.resume()
    const [code, reason] = await once(socket, 'close')
    assert.deepEqual([code, String(reason)], [1008, 'too slow'])
    assert.equal(calls.reached.sent.length, 0, 'it is not heard any more')
  })
})

describe('a sideband that has said something, or is not read for now', () => {
  it('has not gone, whatever its pongs', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    calls.reached.budget = { spend: (_now, bytes) => (bytes > 100 ? 2 ** 30 : 0) }
    const query = `?call_id=${ID}`
    const [talking, held] = [query, query].map((one) => open(one, 'alice', [], { autoPong: false }))
    assert.ok(talking && held)
    await Promise.all([once(talking, 'open'), once(held, 'open')])
    await eventually('both have joined', () => calls.reached.listening.size === 2)
    held.send(JSON.stringify({ type: 'x'.repeat(100) }))
    await eventually('it is heard, and waits', () => calls.reached.sent.length === 1)
    for (let n = 2; n < 5; n++) {
      const pinged = Promise.all([once(talking, 'ping'), once(held, 'ping')])
      t.mock.timers.tick(PING_MS)
      await pinged
      talking.send('{"type":"y"}')
      await eventually('it is heard', () => calls.reached.sent.length === n)
    }
    assert.equal(calls.reached.listening.size, 2)
    for (const socket of [talking, held]) socket.terminate()
    // One that is not read shows that it has gone when it is: here at the call's end.
    for (const listener of calls.reached.listening) listener.onEnd('peer_closed', false)
    await eventually('both are closed', () => http.websocketServer.clients.size === 0)
  })
})

describe('a sideband that has gone without a word', () => {
  it('leaves its call; one that answers pings stays', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const here = await listen()
    const gone = open(`?call_id=${ID}`, 'alice', [], { autoPong: false })
    await once(gone, 'open')
    await eventually('both have joined', () => calls.reached.listening.size === 2)
    const pinged = Promise.all([once(here, 'ping'), once(gone, 'ping')])
    t.mock.timers.tick(PING_MS)
    await pinged
    // What is sent after the pong arrives after it.
    here.send('{"type":"after.pong"}')
    await eventually('the pong is there', () => calls.reached.sent.length === 1)
    const over = once(gone, 'close')
    const again = once(here, 'ping')
    t.mock.timers.tick(PING_MS)
    assert.equal((await over)[0], 1006)
    await again
    await eventually('it has left', () => calls.reached.listening.size === 1)
    here.terminate()
  })
})

describe('calls by SIP', () => {
  it('are not served: 501', async () => {
    for (const action of ['accept', 'refer', 'reject']) {
      const response = await http.inject({
        method: 'POST',
        url: `/v1/realtime/calls/${ID}/${action}`,
        headers: { authorization: 'Bearer alice', 'content-type': 'application/json' },
        payload: '{}',
      })
      assert.deepEqual([response.statusCode, response.json().error.code], [501, 'not_implemented'])
      const anonymous = await http.inject({ method: 'POST', url: `/v1/realtime/calls/${ID}/${action}` })
      assert.equal(anonymous.statusCode, 401)
    }
  })
})
