/** A link to a backend: what it passes on, when whoever sends has to wait, and how it ends. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { BackendLink, type BackendLinkHandlers } from '../../../../core/backend/backend-link.ts'
import { connectWebSocket } from '../../../../core/backend/connect-websocket.ts'
import { EdgeError } from '../../../../core/errors.ts'

const PATIENCE = { idleTimeoutMs: 60_000, maxUnsentBytes: 1000 }

let server: WebSocketServer
let theirs: WebSocket
let ours: WebSocket
let call: AbortController

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  call = new AbortController()
  const url = new URL(`ws://127.0.0.1:${address.port}/`)
  const options = { url, headers: {}, connectTimeoutMs: 5000, maxMessageBytes: 65_536 }
  const [[their], our] = await Promise.all([
    once(server, 'connection'),
    connectWebSocket(options, call.signal),
  ])
  assert.ok(our)
  ours = our
  theirs = their
  theirs.on('error', () => {})
})

afterEach(async () => {
  for (const socket of server.clients) socket.terminate()
  await new Promise((resolve) => server.close(resolve))
})

function link(handlers: Partial<BackendLinkHandlers> = {}, patience = PATIENCE): BackendLink {
  return new BackendLink(ours, patience, { onMessage() {}, ...handlers })
}

function isFault(code: string, text: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof EdgeError && error.code === code && text.test(error.message)
}

describe('a link to a backend', () => {
  it('passes on texts and bytes both ways', async () => {
    const heard: unknown[] = []
    const said: unknown[] = []
    const both = Promise.withResolvers<void>()
    const it = link({
      onMessage(data, isBinary) {
        heard.push([data.toString(), isBinary])
        if (heard.length === 2) both.resolve()
      },
    })
    theirs.on('message', (data, isBinary) => said.push([String(data), isBinary]))
    const held = it.hold(call.signal, [])
    theirs.send('a text')
    theirs.send(Buffer.from('bytes'))
    it.send('a question')
    it.send(Buffer.from('samples'))
    await both.promise
    it.end()
    await held
    assert.deepEqual(heard, [
      ['a text', false],
      ['bytes', true],
    ])
    assert.deepEqual(said, [
      ['a question', false],
      ['samples', true],
    ])
  })

  it('makes who sends wait while the backend does not read, and no longer than the link lasts', async () => {
    theirs.pause()
    const it = link()
    const held = it.hold(call.signal, [])
    const piece = 'x'.repeat(1_000_000)
    let room: Promise<void> | undefined
    for (let n = 0; n < 100 && room === undefined; n++) room = it.send(piece)
    assert.ok(room)
    theirs.resume()
    await room
    assert.equal(it.send('little'), undefined)
    it.end()
    assert.equal(it.send(piece), undefined)
    await held
  })

  it('is not read while it is paused', async () => {
    const heard: string[] = []
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const it = link({
      onMessage(data) {
        heard.push(data.toString())
        if (heard.length === 1) it.pause()
        ;(heard.length === 1 ? first : second).resolve()
      },
    })
    const held = it.hold(call.signal, [])
    theirs.send('one')
    await first.promise
    theirs.send('two')
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(it.paused, true)
    assert.deepEqual(heard, ['one'])
    it.resume()
    await second.promise
    it.end()
    await held
  })
})

describe('a link ends', () => {
  it('in order when the call does: nothing is said or heard any more', async () => {
    let ends = 0
    const it = link({ onOver: () => ends++ })
    const held = it.hold(call.signal, [])
    const closed = once(theirs, 'close')
    call.abort()
    assert.equal(it.isOver, true)
    await held
    assert.equal((await closed)[0], 1000)
    it.end()
    assert.equal(ends, 1)
  })

  it('at once for a call that is over already', async () => {
    call.abort()
    await link().hold(call.signal, [])
  })

  it('in order when the backend closes with 1000', async () => {
    const held = link().hold(call.signal, [])
    theirs.close(1000)
    await held
  })

  for (const [what, end, text] of [
    ['closes with another code', () => theirs.close(1011), /code 1011/],
    ['breaks off', () => theirs.terminate(), /code 1006/],
    ['sends too much at once', () => theirs.send('x'.repeat(70_000)), /payload/],
    ['sends what its handler throws at', () => theirs.send('bad'), /broke off: bad/],
  ] as const)
    it(`with bridge_failed when the backend ${what}`, async () => {
      const onMessage = (data: Buffer): void => {
        throw new Error(data.toString())
      }
      const held = link({ onMessage }).hold(call.signal, [])
      end()
      await assert.rejects(held, isFault('bridge_failed', text))
    })

  it('with a fault when a pump rejects, and the backend hears that something went wrong', async () => {
    const closed = once(theirs, 'close')
    const held = link().hold(call.signal, [Promise.reject(new EdgeError('bridge_timeout', 'too slow'))])
    await assert.rejects(held, isFault('bridge_timeout', /too slow/))
    assert.equal((await closed)[0], 1011)
  })

  it('when the backend gives no sign of life, and not while it answers pings', async () => {
    const patience = { ...PATIENCE, idleTimeoutMs: 20 }
    let pings = 0
    const silent = Promise.withResolvers<void>()
    theirs.on('ping', () => {
      if (++pings <= 5) theirs.pong()
      else silent.resolve()
    })
    const held = link({}, patience).hold(call.signal, [])
    held.catch(() => {})
    await silent.promise
    await assert.rejects(held, isFault('bridge_timeout', /sign of life/))
  })

  it('not for silence while it is paused, since nothing is heard then; in order all the same', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const it = link()
    const held = it.hold(call.signal, [])
    const closed = once(ours, 'close')
    it.pause()
    t.mock.timers.tick(10 * PATIENCE.idleTimeoutMs)
    assert.equal(it.isOver, false)
    for (let n = 0; n < 20; n++) theirs.send('x'.repeat(60_000))
    it.end()
    await held
    assert.equal(
      (await closed)[0],
      1000,
      'the backend’s answer to the close was read, behind all that waited',
    )
  })

  it('with bridge_failed when the backend asks on and on, and reads no answer', async () => {
    const onMessage = (): void => void it.send('x'.repeat(10_000))
    const it: BackendLink = link({ onMessage })
    const held = it.hold(call.signal, [])
    theirs.pause()
    const asking = setInterval(() => {
      for (let n = 0; n < 100; n++) theirs.send('?')
    }, 1)
    await assert.rejects(held, isFault('bridge_failed', /does not read/)).finally(() => clearInterval(asking))
    assert.ok(ours.bufferedAmount < 2_000_000, `${ours.bufferedAmount} bytes wait`)
  })

  it('by force where the backend does not answer the close', async () => {
    theirs.pause()
    const it = link()
    const held = it.hold(call.signal, [])
    it.end()
    await held
  })
})
