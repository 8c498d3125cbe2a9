import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocketServer } from 'ws'
import { connectWebSocket } from '../../../../../core/backend/connect-websocket.ts'
import { EdgeError } from '../../../../../core/errors.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall } from '../../../../../core/testing/fake-call.ts'
import { Conversation } from '../../../../../plugins/inference-bridge/websocket/conversation.ts'
import { turnsUntil } from '../../../core/event-loop-turns.ts'
import { slowToSend } from '../slow-call.ts'

/** A conversation with a backend that answers pings or does not. */
async function converse(autoPong: boolean, idleTimeoutMs: number) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong })
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const url = `ws://127.0.0.1:${address.port}/`
  const limits = { connectTimeoutMs: 5000, maxMessageBytes: 65536, readAheadMs: 1000 }
  const call = new FakeCall({ pcm16: 24000 })
  const socket = await connectWebSocket({ url: new URL(url), headers: {}, ...limits }, call.signal)
  assert.ok(socket)
  let pings = 0
  for (const client of server.clients) client.on('ping', () => pings++)
  return {
    call,
    pings: () => pings,
    server,
    run: () => new Conversation(socket, call, { rate: 24000, readAheadMs: 1000, idleTimeoutMs }).run(),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe('a conversation', () => {
  test('is broken off when the backend gives no sign of life', async () => {
    const { call, run, close } = await converse(false, 20)
    await assert.rejects(run(), (error) => error instanceof EdgeError && error.code === 'bridge_timeout')
    call.close()
    await close()
  })

  test('leaves the event loop to others, however many messages come at once', async () => {
    const { call, run, server, close } = await converse(true, 5000)
    slowToSend(call, 1)
    const over = run()
    for (const client of server.clients) for (let n = 0; n < 200; n++) client.send('{"type":"flood"}')
    const sent = () => call.sent.length
    const { most } = await turnsUntil(() => sent() === 200, sent)
    assert.ok(most <= 10, `${most} in a turn`)
    call.close()
    await over
    await close()
  })

  test('goes on with a backend that says nothing but pong', async () => {
    const { call, pings, run, close } = await converse(true, 300)
    const running = run()
    await eventually('pings were answered', () => pings() > 2)
    call.close()
    await running
    await close()
  })
})
