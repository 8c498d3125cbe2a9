/** Backends that fail the bridge: each ends the conversation with its code, and leaves no connection. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { EdgeError } from '../../../../../core/index.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall } from '../../../../../core/testing/fake-call.ts'
import { RealtimeBackend } from '../../../../peers/realtime-backend.ts'
import type { BackendConversation } from '../../../../peers/realtime-backend-conversation.ts'
import { turnsUntil } from '../../../core/event-loop-turns.ts'
import { slowToSend } from '../slow-call.ts'
import { bridgeTo, PCM, Rig } from './call-rig.ts'

describe('a backend that fails', () => {
  const failures: [string, (peer: BackendConversation) => void, RegExp][] = [
    ['no JSON', (peer) => peer.socket.send('hello'), /no event/],
    ['JSON that is no object', (peer) => peer.socket.send('[1]'), /no event/],
    ['an event without a type', (peer) => peer.socket.send('{"typ":"x"}'), /no event/],
    ['binary that is no JSON', (peer) => peer.socket.send(Buffer.alloc(640)), /no event/],
    ['too long a message', (peer) => peer.socket.send(`{"type":"${'x'.repeat(70_000)}"}`), /payload/],
    ['an abnormal close', (peer) => peer.socket.terminate(), /code 1006/],
  ]
  for (const [what, fail, message] of failures) {
    it(`by ${what}: the conversation is over, and its connection closed`, async () => {
      await using rig = await Rig.start({}, { maxMessageBytes: 65_536 })
      await rig.untilTold('session.created')
      fail(rig.peer)
      await assert.rejects(rig.opened, isFault('bridge_failed', message))
    })
  }

  // Both wait for session.updated, which does not come.
  const deep = `{"type":"deep","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const greeting = '{"type":"session.created","session":{}}'
  it('by an event that nests too deep to be passed on, once what waits is passed on: it is over', async () => {
    await using rig = await Rig.start({ silent: true, deaf: true }, { connectTimeoutMs: 400 })
    for (const text of [greeting, deep]) rig.peer.socket.send(text)
    await assert.rejects(rig.opened, isFault('bridge_failed', /call stack/))
  })

  it('by such an event before it hangs up: the end is one all the same', async () => {
    await using rig = await Rig.start({ silent: true, deaf: true })
    for (const text of [greeting, deep]) rig.peer.socket.send(text)
    rig.peer.socket.close()
    await rig.opened
    assert.deepEqual(rig.told, ['session.created'])
  })

  it('by refusing the key: the conversation never begins', async () => {
    await using backend = await RealtimeBackend.start({ key: 'sk' })
    const call = new FakeCall(PCM)
    const opened = bridgeTo(backend.url, { apiKey: 'wrong' }).open(call)
    await assert.rejects(opened, isFault('bridge_failed', /401/))
    call.close()
  })

  it('by not saying session.created: it is given up', async () => {
    await using rig = await Rig.start({ silent: true }, { connectTimeoutMs: 400 })
    await assert.rejects(rig.opened, isFault('bridge_timeout', /session\.created/))
  })

  it('by giving no sign of life: it is given up', async () => {
    await using rig = await Rig.start({ autoPong: false }, { idleTimeoutMs: 40 })
    await assert.rejects(rig.opened, isFault('bridge_timeout', /sign of life/))
  })

  it('by not answering at all: it is given up, and so is one that the call does not wait for', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    assert.ok(address && typeof address === 'object')
    const url = `ws://127.0.0.1:${address.port}/?key=secret`
    const call = new FakeCall(PCM)
    await assert.rejects(bridgeTo(url, { connectTimeoutMs: 20 }).open(call), (error) => {
      assert.doesNotMatch(String(error), /secret/)
      return isFault('bridge_timeout', /within 20 ms/)(error)
    })
    const opened = bridgeTo(url).open(call)
    call.close()
    await opened
    await new Promise((resolve) => server.close(resolve))
  })

  it('by a flood leaves the event loop to others', async () => {
    await using rig = await Rig.start()
    await rig.untilTold('session.created')
    slowToSend(rig.call, 1)
    for (let n = 0; n < 200; n++) rig.peer.socket.send('{"type":"flood"}')
    const told = () => rig.told.length
    const { most } = await turnsUntil(() => told() === 201, told)
    assert.ok(most <= 10, `${most} in a turn`)
  })

  it('by nothing but thinking: it is waited for', async () => {
    await using rig = await Rig.start({}, { idleTimeoutMs: 60 })
    let pings = 0
    rig.peer.socket.on('ping', () => pings++)
    await eventually('pings were answered', () => pings > 4)
    rig.call.say({ type: 'response.create' })
    await rig.untilTold('response.done')
  })
})

function isFault(code: string, message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof EdgeError, String(error))
    assert.equal(error.code, code)
    assert.match(error.message, message)
    return true
  }
}
