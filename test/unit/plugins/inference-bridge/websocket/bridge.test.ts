import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { describe, test } from 'node:test'
import { type Meter, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { type WebSocket, WebSocketServer } from 'ws'
import type { BackendContext } from '../../../../../core/backend/backend-calls.ts'
import { EdgeError } from '../../../../../core/errors.ts'
import { sampleFrame } from '../../../../../core/testing/bridge/in-call.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall } from '../../../../../core/testing/fake-call.ts'
import { checkInferenceBridge } from '../../../../../core/testing/inference-bridge.ts'
import { WebSocketBridge } from '../../../../../plugins/inference-bridge/websocket/bridge.ts'
import type { WebSocketOptions } from '../../../../../plugins/inference-bridge/websocket/options.ts'
import { startEchoBackend } from '../../../../examples/echo-backend.ts'

const meter: Meter = metrics.getMeter('test')
const context: BackendContext = {
  tracer: trace.getTracer('test'),
  meter,
  tracing: { root: () => assert.fail('a bridge starts no trace'), parent: () => ROOT_CONTEXT, isOn: false },
}

function bridgeTo(url: string, options: Partial<WebSocketOptions> = {}): WebSocketBridge {
  return new WebSocketBridge(
    {
      url,
      rate: 24000,
      headers: {},
      connectTimeoutMs: 2000,
      maxMessageBytes: 65536,
      readAheadMs: 500,
      ...options,
    },
    context,
  )
}

async function echo() {
  const backend = await startEchoBackend()
  return { bridge: bridgeTo(backend.url), close: () => backend.close() }
}

checkInferenceBridge('websocket', echo, {
  echoes: true,
  aheadMs: 1500,
  broken: () => ({ bridge: bridgeTo('ws://127.0.0.1:1/') }),
})

/** A backend that is told what to do with each connection. */
async function backend(onConnection: (socket: WebSocket, headers: NodeJS.Dict<string | string[]>) => void) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('connection', (socket, request) => onConnection(socket, request.headers))
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  return {
    url: `ws://127.0.0.1:${address.port}/`,
    server,
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function failsWith(code: string, text: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof EdgeError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, text)
    return true
  }
}

describe('the websocket bridge', () => {
  test('says first which call it is, and sends the headers', async () => {
    const heard = Promise.withResolvers<unknown[]>()
    await using peer = await backend((socket, headers) => {
      socket.once('message', (data, isBinary) =>
        heard.resolve([headers.authorization, isBinary, JSON.parse(data.toString())]),
      )
    })
    const call = new FakeCall({ pcm16: 24000 }, { model: 'm', session: { voice: 'v' } })
    const opened = bridgeTo(peer.url, { headers: { authorization: 'Bearer k' } }).open(call)
    assert.deepEqual(await heard.promise, [
      'Bearer k',
      false,
      {
        type: 'call.start',
        call: 'rtc_test',
        model: 'm',
        session: { voice: 'v' },
        audio: { encoding: 'pcm16', rate: 24000 },
      },
    ])
    call.close()
    await opened
  })

  test('closes the connection in order when the call ends', async () => {
    const started = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<number>()
    await using peer = await backend((socket) => {
      socket.once('message', () => started.resolve())
      socket.on('close', (code) => closed.resolve(code))
    })
    const call = new FakeCall({ pcm16: 24000 })
    const opened = bridgeTo(peer.url).open(call)
    await started.promise
    call.close()
    await opened
    assert.equal(await closed.promise, 1000)
  })

  test('tags audio and answers a clear with what was played', async () => {
    const cleared = Promise.withResolvers<unknown>()
    const frame = sampleFrame({ pcm16: 24000 }, 1).data
    await using peer = await backend((socket) => {
      socket.send('{"type":"audio.tag","tag":"a"}')
      socket.send(frame)
      socket.send(frame)
      socket.send('{"type":"audio.tag","tag":"b"}')
      socket.send('{"type":"audio.clear"}')
      socket.send(frame)
      socket.on('message', (data) => {
        const message = JSON.parse(data.toString())
        if (message.type === 'audio.cleared') cleared.resolve(message)
      })
    })
    const call = new FakeCall({ pcm16: 24000 })
    const opened = bridgeTo(peer.url).open(call)
    assert.deepEqual(await cleared.promise, { type: 'audio.cleared', played: [{ tag: 'a', played_ms: 40 }] })
    await eventually('the frame behind the clear was played', () => call.played.length === 3)
    assert.deepEqual(call.flush(), [], 'the tag outlived the clear')
    call.close()
    await opened
  })

  test('reads on up to readAheadMs and no further, so that a clear below it is heard at once', async () => {
    let sent = 0
    const frame = sampleFrame({ pcm16: 24000 }, 1).data
    await using peer = await backend((socket) => {
      for (; sent < 5; sent++) socket.send(frame)
      socket.send('{"type":"test.behind"}')
    })
    const call = new FakeCall({ pcm16: 24000 }, { hold: true, roomMs: 20 })
    const opened = bridgeTo(peer.url, { readAheadMs: 100 }).open(call)
    await eventually('the event behind the audio came', () => call.sent.length === 1)
    assert.equal(call.queuedMs, 100)
    call.close()
    await opened
  })

  test('does not let a client speak for the edge', async () => {
    const heard: unknown[] = []
    await using peer = await backend((socket) =>
      socket.on('message', (data) => heard.push(JSON.parse(data.toString()).type)),
    )
    const call = new FakeCall({ pcm16: 24000 })
    const opened = bridgeTo(peer.url).open(call)
    call.say({ type: 'call.end' }, { type: 'audio.cleared', played: [] }, { type: 'hello' })
    await eventually('the harmless event came', () => heard.includes('hello'))
    assert.deepEqual(heard, ['call.start', 'hello'])
    assert.deepEqual(
      call.sent.map((event) => event.type),
      ['error', 'error'],
    )
    call.close()
    await opened
  })

  test('ends the call when the backend says so, or closes with 1000', async () => {
    await using peer = await backend((socket) => socket.send('{"type":"call.end","reason":"done"}'))
    const call = new FakeCall({ pcm16: 24000 })
    await bridgeTo(peer.url).open(call)
    assert.equal(call.endedBy, 'done')
    call.close()
    await using closer = await backend((socket) => socket.close(1000))
    const other = new FakeCall({ pcm16: 24000 })
    await bridgeTo(closer.url).open(other)
    other.close()
  })

  const faults: [string, (socket: WebSocket) => void, RegExp][] = [
    ['text that is no JSON', (s) => s.send('hello'), /no JSON object/],
    ['JSON that is no object', (s) => s.send('[1]'), /no JSON object/],
    ['half a sample', (s) => s.send(Buffer.alloc(3)), /3 bytes of PCM16/],
    ['a message that is too long', (s) => s.send(Buffer.alloc(65538)), /payload/],
    ['a message that only the edge may send', (s) => s.send('{"type":"call.start"}'), /call\.start/],
    ['a tag that is a number', (s) => s.send('{"type":"audio.tag","tag":3}'), /audio\.tag/],
    ['an abnormal close', (s) => s.terminate(), /code 1006/],
    ['a close that complains', (s) => s.close(1011), /code 1011/],
  ]
  for (const [what, misbehave, text] of faults) {
    test(`rejects on ${what}, and leaves no connection`, async () => {
      await using peer = await backend(misbehave)
      const call = new FakeCall({ pcm16: 24000 })
      await assert.rejects(bridgeTo(peer.url).open(call), failsWith('bridge_failed', text))
      await eventually('the connection was gone', () => peer.server.clients.size === 0)
      call.close()
    })
  }

  test('gives up on a backend that does not answer, and on one while the call ends', async () => {
    const server: Server = createServer((socket) => void socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(address && typeof address === 'object')
    const url = `ws://127.0.0.1:${address.port}/?key=secret`
    const call = new FakeCall({ pcm16: 24000 })
    await assert.rejects(bridgeTo(url, { connectTimeoutMs: 20 }).open(call), (error) => {
      assert.doesNotMatch(String(error), /secret/)
      return failsWith('bridge_timeout', /within 20 ms/)(error)
    })
    const opened = bridgeTo(url, { connectTimeoutMs: 60_000 }).open(call)
    call.close()
    await opened
    await new Promise((resolve) => server.close(resolve))
  })

  test('a backend that does not read holds back the caller’s audio, and no memory', async () => {
    const paused = Promise.withResolvers<WebSocket>()
    await using peer = await backend((socket) => {
      socket.pause()
      paused.resolve(socket)
    })
    const call = new FakeCall({ pcm16: 48000 })
    const opened = bridgeTo(peer.url, { rate: 48000 }).open(call)
    const socket = await paused.promise
    const second = { data: new Uint8Array(96_000), durationMs: 1000 }
    call.speak(...Array.from({ length: 200 }, () => second))
    let last = -1
    await eventually('it stopped reading', async () => {
      const before = last
      last = call.unread
      await new Promise((resolve) => setTimeout(resolve, 30))
      return before === last
    })
    assert.ok(call.unread > 50, `only ${call.unread} of 200 s were left unread`)
    socket.resume()
    await eventually('it read on', () => call.unread === 0)
    call.close()
    await opened
  })
})
