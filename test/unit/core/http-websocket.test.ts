import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { WebSocket } from 'ws'
import { EdgeError } from '../../../core/errors.ts'
import { createListener } from '../../../core/http.ts'
import { MAX_WEBSOCKET_MESSAGE } from '../../../core/http-websocket.ts'
import { turnsUntil, work } from './event-loop-turns.ts'

const ORIGIN = 'https://app.example'

let http: FastifyInstance
let url: string
let heard = 0

before(async () => {
  http = await createListener({
    log: pino({ level: 'silent' }),
    bodyLimit: 1024,
    maxConnections: 100,
    origins: [ORIGIN],
    guarded: false,
  })
  http.get('/plain', async () => 'plain')
  http.get('/echo', { websocket: true }, (socket) => {
    socket.on('message', (data) => socket.send(String(data)))
  })
  http.get('/long', { websocket: true }, (socket) => {
    socket.on('message', () => {
      work(1)
      heard++
    })
  })
  http.get('/short', { websocket: true }, (socket) => {
    socket.on('message', () => heard++)
  })
  const refuse = async () => {
    throw new EdgeError('unauthorized', 'who are you?')
  }
  http.get('/closed', { websocket: true, onRequest: refuse }, (socket) => socket.close())
  url = await http.listen({ host: '127.0.0.1', port: 0 })
})

after(() => http.close())

/** Asks for an upgrade and reads until the other side closes. */
async function upgrade(path: string, origin = ORIGIN): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const head = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', `Origin: ${origin}`]
  const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']
  socket.write(`GET ${path} HTTP/1.1\r\n${[...head, ...key].join('\r\n')}\r\n\r\n`)
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => {
    text += part
  })
  await once(socket, 'close')
  return text
}

describe('WebSockets on a listener', () => {
  it('take a message in pieces, but not in any number of them', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`)
    await once(socket, 'open')
    const whole = 'x'.repeat(MAX_WEBSOCKET_MESSAGE)
    for (let at = 0; at < whole.length; at += 1024)
      socket.send(whole.slice(at, at + 1024), { fin: at + 1024 === whole.length })
    const [echo] = await once(socket, 'message')
    assert.equal(String(echo), whole)
    const closed = once(socket, 'close')
    for (let pieces = 0; pieces < 300; pieces++) socket.send('', { fin: false })
    assert.equal((await closed)[0], 1008)
  })

  it('take turns: a flood leaves the event loop to others, and is done in few of them', async () => {
    const flood = async (path: string, count: number) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`)
      await once(socket, 'open')
      heard = 0
      for (let n = 0; n < count; n++) socket.send('x')
      const seen = await turnsUntil(
        () => heard === count,
        () => heard,
      )
      socket.terminate()
      return seen
    }
    const { most } = await flood('/long', 100)
    assert.ok(most <= 10, `${most} in a turn`)
    const { turns } = await flood('/short', 10_000)
    assert.ok(turns < 2000, `${turns} turns`)
  })

  it('need a path that is always the same', async () => {
    const options = { log: pino({ level: 'silent' }), bodyLimit: 1024, maxConnections: 1 }
    const other = await createListener({ ...options, origins: [], guarded: false })
    for (const path of ['/calls/:id', '/calls/*']) {
      const isTold = (error: Error) => error.message.includes(`the route ${path} wants WebSockets`)
      assert.throws(() => other.get(path, { websocket: true }, () => {}), isTold)
      other.get(path, async () => 'a request')
    }
    await other.close()
  })

  it('go both ways', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`)
    await once(socket, 'open')
    socket.send('hello')
    assert.equal(String((await once(socket, 'message'))[0]), 'hello')
    socket.close()
    await once(socket, 'close')
  })

  it('are answered with the subprotocol that carries no key', async () => {
    for (const [offered, chosen] of [
      [['realtime', 'openai-insecure-api-key.secret'], 'realtime'],
      [['openai-insecure-api-key.secret', 'realtime'], 'realtime'],
      [['realtime'], 'realtime'],
    ] as const) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`, [...offered])
      await once(socket, 'open')
      assert.equal(socket.protocol, chosen)
      socket.terminate()
    }
  })

  it('that are refused get the error as any request, with CORS, and no connection is left open', async () => {
    const text = await upgrade('/closed')
    assert.match(text, /^HTTP\/1\.1 401 /)
    assert.match(text, /access-control-allow-origin: https:\/\/app\.example/i)
    assert.match(text, /"code":"unauthorized"/)
  })

  it('are not begun on a path that takes none: it answers as ever, and the connection stays under the time limits', async () => {
    const answered = []
    for (const [method, path] of [
      ['GET', '/plain'],
      ['POST', '/plain'],
      ['GET', '/nowhere'],
      ['GET', '/%zz'],
      ['POST', '/echo'],
    ]) {
      const headers = { connection: 'upgrade', upgrade: 'websocket', 'content-type': 'text/plain' }
      const sent = request(new URL(url), { method, path, headers, agent: false })
      sent.end(method === 'POST' ? 'a body' : undefined)
      sent.once('upgrade', (_response, socket) => socket.destroy(new Error('upgraded')))
      const [response] = await once(sent, 'response', { signal: AbortSignal.timeout(5000) })
      answered.push([response.statusCode, response.headers.connection])
      response.socket.destroy()
    }
    assert.deepEqual(
      answered,
      [200, 404, 404, 400, 404].map((status) => [status, 'keep-alive']),
    )
  })

  it('that send too much are ended', async () => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`)
    await once(socket, 'open')
    socket.send('x'.repeat(262_145))
    const [code] = await once(socket, 'close')
    assert.ok(code === 1009 || code === 1006, String(code))
  })
})
