/** Calls to a WebSocket backend: sound comes back as it was, and whatever the backend does, the caller is told. */

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { type WebSocket, WebSocketServer } from 'ws'
import { DtlsConnection } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { opusCounters } from '../../plugins/transceiver/media/opus.ts'
import { memoryInUse } from '../fuzz/live-call.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'
import { edgeConfig } from './support/configs.ts'
import { assertHandles, handles } from './support/handles.ts'
import { sendPaced, tonesIn, whistle } from './support/tones.ts'

const TONES = [440, 1000, 2500].map((hertz) => ({ hertz, durationMs: 400 }))
const MEGABYTE = 1_048_576
const AT_START = handles()

let edge: TestEdge
let client: TestClient
let server: WebSocketServer | Server | undefined

/** A backend that gives everything back, and its newest connection. */
class Backend {
  /** False: it does not give anything back. */
  echoes = true
  readonly url: string
  #newest: WebSocket | undefined

  private constructor(listening: WebSocketServer) {
    const address = listening.address()
    assert.ok(address && typeof address === 'object')
    this.url = `ws://127.0.0.1:${address.port}/`
    listening.on('connection', (socket) => {
      this.#newest = socket
      socket.on('error', () => {})
      socket.once('message', () => {
        socket.on('message', (data, isBinary) => {
          if (this.echoes) socket.send(data, { binary: isBinary })
        })
      })
    })
  }

  static async start(): Promise<Backend> {
    const listening = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
    server = listening
    await new Promise((resolve) => listening.once('listening', resolve))
    return new Backend(listening)
  }

  get socket(): WebSocket {
    assert.ok(this.#newest)
    return this.#newest
  }
}

async function start(options: Record<string, unknown>): Promise<void> {
  const use = './plugins/inference-bridge/websocket/index.ts'
  edge = await startEdge({ config: edgeConfig({ bridge: { use, options } }) })
}

/** A call in which an event has gone to the backend and back, and sound too. */
async function talking(): Promise<Backend> {
  const backend = await Backend.start()
  await start({ url: backend.url })
  client = await TestClient.connect(edge.post)
  client.sendEvent({ type: 'hello' })
  assert.deepEqual(await client.events.take(), { type: 'hello' })
  await sendPaced(client, whistle([TONES[0]!]).slice(0, 5))
  await client.audio.take()
  return backend
}

async function assertTold(code: string): Promise<void> {
  const error = await client.events.find(({ type }) => type === 'error')
  assert.partialDeepStrictEqual(error, { error: { type: 'server_error', code } })
  assert.doesNotMatch(JSON.stringify(error), /127\.0\.0\.1|ws:/)
  assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'bridge_failed' })
  assert.equal(await client.ended, 'close_notify')
}

async function closeServer(): Promise<void> {
  const closing = server
  server = undefined
  if (closing instanceof WebSocketServer) for (const socket of closing.clients) socket.terminate()
  await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)))
}

afterEach(async () => {
  await client.close()
  await edge.untilIdle()
  await edge.close()
  await closeServer()
  assert.equal(DtlsConnection.live, 0)
  assert.deepEqual([opusCounters.decoders, opusCounters.encoders], [0, 0])
  await assertHandles(AT_START)
})

describe('sound that goes to a backend as samples and comes back', () => {
  for (const rate of [8000, 16000, 24000, 48000]) {
    it(`at ${rate} Hz: every tone at its pitch, in order`, async () => {
      const backend = await Backend.start()
      await start({ url: backend.url, rate })
      client = await TestClient.connect(edge.post)
      const packets = whistle(TONES)
      await sendPaced(client, packets)
      const heard = await client.audio.takeMany(packets.length)
      const last = TONES.at(-1)!.durationMs
      assert.deepEqual(
        tonesIn(
          heard.map(({ payload }) => payload),
          TONES,
          last / 2,
        ),
        [0, 1, 2],
      )
    })
  }
})

describe('a backend that fails in mid-call', () => {
  const failures: [what: string, fail: (socket: WebSocket) => void][] = [
    ['dies', (socket) => socket.terminate()],
    ['closes with an error', (socket) => socket.close(1011, 'out of memory')],
    ['sends half a JSON', (socket) => socket.send('{"type":')],
    ['sends JSON that is no object', (socket) => socket.send('[1,2,3]')],
    ['sends what only the edge may say', (socket) => socket.send('{"type":"call.start"}')],
    ['sends half a sample', (socket) => socket.send(Buffer.alloc(641))],
    ['sends a message that is too long', (socket) => socket.send(Buffer.alloc(2 * MEGABYTE))],
    ['sends a text that is too long', (socket) => socket.send(`{"type":"${'x'.repeat(2 * MEGABYTE)}"}`)],
    [
      'floods with samples, and then half of one',
      (socket) => {
        for (let n = 0; n < 20; n++) socket.send(Buffer.alloc(48_000))
        socket.send(Buffer.alloc(3))
      },
    ],
  ]

  for (const [what, fail] of failures) {
    it(`${what}: the caller hears of it, and the call ends`, async () => {
      const backend = await talking()
      fail(backend.socket)
      await assertTold('bridge_failed')
      await eventually('the connection is closed', () => backend.socket.readyState === backend.socket.CLOSED)
    })
  }
})

describe('a backend that cannot be had', () => {
  it('refuses: the caller hears of it when it is connected', async () => {
    await start({ url: 'ws://127.0.0.1:9/' })
    client = await TestClient.connect(edge.post)
    await assertTold('bridge_failed')
  })

  it('never answers: likewise, when that has taken too long', async () => {
    const silent = createServer((socket) => socket.on('error', () => {}).resume())
    server = silent
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    assert.ok(address && typeof address === 'object')
    await start({ url: `ws://127.0.0.1:${address.port}/`, connectTimeoutMs: 300 })
    client = await TestClient.connect(edge.post)
    await assertTold('bridge_timeout')
  })
})

describe('a backend that sends too much, or reads too little', () => {
  it('ten minutes of sound at once: it is played in time, and what is not yet read waits at the backend', async () => {
    const backend = await talking()
    const memory = memoryInUse()
    for (let n = 0; n < 600; n++) backend.socket.send(Buffer.alloc(48_000, 1))
    await client.audio.takeMany(50)
    const grown = (memoryInUse() - memory - backend.socket.bufferedAmount) / MEGABYTE
    assert.ok(backend.socket.bufferedAmount > 10 * MEGABYTE, 'most of it is still at the backend')
    assert.ok(grown < 12, `${grown} MB more`)
    // Events still go up meanwhile, and the call can be ended.
    assert.equal(await edge.hangUp(client.url!), 200)
    assert.deepEqual(await client.events.take(), { type: 'session.ended', reason: 'hang_up' })
  })

  it('50,000 events at once: the caller gets the first and the call goes on', async () => {
    const backend = await talking()
    const memory = memoryInUse()
    for (let n = 0; n < 50_000; n++) backend.socket.send(`{"type":"note","n":${n}}`)
    await eventually('they have left', () => backend.socket.bufferedAmount === 0, 10_000)
    for (let n = 0; n < 100; n++) assert.deepEqual(await client.events.take(), { type: 'note', n })
    await sendPaced(client, whistle([TONES[1]!]).slice(0, 10))
    // The echo takes its turn behind what the backend has sent before.
    await client.audio.takeMany(10)
    // What did not fit was dropped; once the rest has gone, an event comes back as ever.
    let asked = 0
    await eventually(
      'the channel has room again',
      () => {
        if (asked++ % 50 === 0) client.channels?.send('{"type":"ping"}')
        return client.events.drain().some(({ type }) => type === 'ping')
      },
      20_000,
    )
    const grown = (memoryInUse() - memory) / MEGABYTE
    assert.ok(grown < 24, `${grown} MB more`)
    assert.equal(await edge.hangUp(client.url!), 200)
    await client.events.find(({ type }) => type === 'session.ended')
    assert.equal(await client.ended, 'close_notify')
  })

  it('nothing is read any more: the caller talks on, and the call can be ended', async () => {
    const backend = await talking()
    backend.socket.pause()
    await sendPaced(client, whistle([TONES[2]!]))
    assert.equal((await edge.sessions()).total, 1)
    assert.equal(await edge.hangUp(client.url!), 200)
    await client.events.find(({ type }) => type === 'session.ended')
    assert.equal(await client.ended, 'close_notify')
  })
})
