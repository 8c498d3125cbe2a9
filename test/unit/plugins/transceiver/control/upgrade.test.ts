/** A WebSocket by call id: it comes to any transceiver, and the owner is at its other end. */

import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import WebSocket from 'ws'
import { eventually } from '../../../../../core/testing/check.ts'
import { pickHeaders, REQUEST_HEADERS } from '../../../../../plugins/transceiver/control/headers.ts'
import { PROOF } from '../../../../../plugins/transceiver/control/owner-client.ts'
import { digest } from '../../../../../plugins/transceiver/control/signature.ts'
import { byCallId, type CallDoor, callerOf } from '../../../../../plugins/transceiver/signaling/by-call-id.ts'
import { idAt, PublicSide } from './public-side.ts'
import { Stranger } from './stranger.ts'
import { ask, KEYS, Owner, signed } from './support.ts'

/** A WebSocket route whose call is named in the query: it says who asked, then echoes. */
function echo(scope: FastifyInstance, door: CallDoor): void {
  const idOf = ({ query }: { query: unknown }) =>
    typeof query === 'object' && query && 'call_id' in query ? String(query.call_id) : undefined
  scope.get('/v1/echo', { websocket: true, ...byCallId(door, idOf) }, (socket, request) => {
    socket.send(`${callerOf(request).name} ${request.headers['sec-websocket-protocol']}`)
    socket.on('message', (data, isBinary) => {
      if (String(data) === 'bye') socket.close(4001, 'as you wish')
      else socket.send(data, { binary: isBinary })
    })
  })
}

const PROTOCOLS = ['realtime', 'openai-insecure-api-key.secret']
const alice = { headers: { authorization: 'Bearer alice' } }

/** Opens a socket; `next` is what the other end says, message by message. */
async function open(side: PublicSide, id: string, options: object = alice) {
  const socket = new WebSocket(
    `${side.origin.replace('http', 'ws')}/v1/echo?call_id=${id}`,
    PROTOCOLS,
    options,
  )
  const messages = on(socket, 'message')
  await once(socket, 'open')
  const next = async (): Promise<[data: Buffer, isBinary: boolean]> => {
    const [data, isBinary] = (await messages.next()).value ?? []
    return [data, isBinary]
  }
  return { socket, next }
}

async function refusal(side: PublicSide, id: string, options: object = alice): Promise<number> {
  const url = `${side.origin.replace('http', 'ws')}/v1/echo?call_id=${id}`
  const socket = new WebSocket(url, PROTOCOLS, options)
  socket.on('error', () => {})
  const [, answer] = await once(socket, 'unexpected-response')
  answer.resume()
  return answer.statusCode
}

describe('a WebSocket for another owner’s call', () => {
  it('has the owner at its other end, under the caller’s name and without the caller’s key', async () => {
    await using owner = await Owner.open({ routes: echo })
    await using side = await PublicSide.open({ routes: echo })
    const { socket, next } = await open(side, idAt(owner.local))
    assert.equal(socket.protocol, 'realtime')
    assert.equal(String((await next())[0]), 'alice realtime')
    for (const sent of ['hello', Buffer.alloc(200_000, 7)]) {
      socket.send(sent)
      const [data, isBinary] = await next()
      assert.deepEqual(isBinary ? data : String(data), sent)
    }
    assert.equal(side.splices.size, 1)
    assert.equal(side.counters.passed, 1)
    socket.send('bye')
    const [code, reason] = await once(socket, 'close')
    assert.deepEqual([code, String(reason)], [4001, 'as you wish'])
    await eventually('both connections are gone', async () => side.splices.size === 0, 5000)
    assert.equal(owner.counters.served, 1)
  })

  it('ends when the client vanishes, and when the owner does', async () => {
    const owner = await Owner.open({ routes: echo })
    await using side = await PublicSide.open({ routes: echo })
    const { socket: vanished } = await open(side, idAt(owner.local))
    vanished.terminate()
    await eventually('both connections are gone', async () => side.splices.size === 0, 5000)
    const { socket: left } = await open(side, idAt(owner.local))
    const closed = once(left, 'close')
    await owner.listener.close()
    await closed
    await eventually('both connections are gone', async () => side.splices.size === 0, 5000)
  })

  it('is cut when the transceiver in between closes', async () => {
    await using owner = await Owner.open({ routes: echo })
    const side = await PublicSide.open({ routes: echo })
    const { socket } = await open(side, idAt(owner.local))
    const closed = once(socket, 'close')
    await side[Symbol.asyncDispose]()
    await closed
  })

  it('is refused as any request is: without a key, with no owner there, by a stranger, with no such route', async () => {
    await using owner = await Owner.open()
    await using side = await PublicSide.open({ routes: echo })
    assert.equal(await refusal(side, idAt(owner.local), {}), 401)
    assert.equal(owner.counters.served + owner.counters.refused, 0)
    assert.equal(await refusal(side, idAt(owner.local)), 404)
    await using other = await PublicSide.open({ routes: echo })
    const stranger = side.listening
    assert.equal(await refusal(other, idAt(stranger)), 503)
    await owner.listener.close()
    assert.equal(await refusal(side, idAt(owner.local)), 503)
  })

  it('gets in at the control port by a signature alone, and a plain request is no upgrade', async () => {
    await using owner = await Owner.open({ routes: echo })
    const url = `ws://${owner.local}/control/v1/echo`
    const socket = new WebSocket(url)
    socket.on('error', () => {})
    const [, answer] = await once(socket, 'unexpected-response')
    answer.resume()
    assert.equal(answer.statusCode, 401)
    assert.equal((await ask(owner.local, signed({ path: '/control/v1/echo' }))).status, 404)
  })
})

describe('an owner that changes the protocol unasked', () => {
  it('is none, whatever it has signed', async () => {
    await using stranger = await Stranger.http(({ method = '', url: path = '', headers: sent }, response) => {
      const headers = { upgrade: 'x' }
      const asked = { method, path, headers: pickHeaders(sent, REQUEST_HEADERS) }
      const proven = KEYS.verify(sent.authorization, asked, Date.now())
      const proof = proven!.sign({ status: 101, headers, body: digest(Buffer.alloc(0)) })
      response.writeHead(101, { ...headers, connection: 'upgrade', [PROOF]: proof }).end()
    })
    await using side = await PublicSide.open()
    const { status, body } = await side.ask(idAt(stranger.local))
    assert.deepEqual([status, JSON.parse(body).error.code], [503, 'owner_unreachable'])
    assert.equal(side.counters.unproven, 1)
  })
})
