/** Realtime backends and clients that misbehave: each has its outcome, and none leaves anything behind. */

import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { memoryInUse } from '../fuzz/live-call.ts'
import { TestClient } from '../peers/client.ts'
import type { BackendConversation } from '../peers/realtime-backend-conversation.ts'
import { assertHandles, handles } from './support/handles.ts'
import { RealtimeCall } from './support/realtime-call.ts'

const AT_START = handles()
const MEGABYTE = 1_048_576

afterEach(() => assertHandles(AT_START))

/** Whether the call still goes on: an answer is asked for and heard. */
async function assertGoesOn(call: RealtimeCall): Promise<void> {
  call.client.sendEvent({ type: 'response.create' })
  await call.until('output_audio_buffer.started', 10_000)
}

describe('a Realtime backend', () => {
  const ends: [what: string, fail: (peer: BackendConversation) => void][] = [
    ['dies', (peer) => peer.socket.terminate()],
    ['closes with an error', (peer) => peer.socket.close(1011, 'out of memory')],
    ['sends what is no JSON', (peer) => peer.socket.send('{"type":')],
    ['sends JSON that is no event', (peer) => peer.socket.send('[1,2,3]')],
    ['sends bytes', (peer) => peer.socket.send(Buffer.alloc(641))],
    ['sends JSON that nests too deep', (peer) => peer.socket.send(nested(20_000))],
    ['sends a message that is too long', (peer) => peer.socket.send(`{"type":"${'x'.repeat(MEGABYTE)}"}`)],
  ]
  for (const [what, fail] of ends) {
    it(`that ${what}: the caller hears of it, and the call ends`, async () => {
      await using call = await RealtimeCall.begin({}, { maxMessageBytes: MEGABYTE })
      await assertGoesOn(call)
      fail(call.peer)
      await call.assertTold('bridge_failed')
    })
  }

  it('that dies in the middle of an answer: likewise, and what it said before is not lost', async () => {
    const answer = () => ({ say: 'one two three', ms: 3000, everyMs: 20 })
    await using call = await RealtimeCall.begin({ answer })
    await assertGoesOn(call)
    call.peer.socket.terminate()
    await call.assertTold('bridge_failed')
  })

  it('that is not there: the offer is answered all the same, and the caller hears of it', async () => {
    await using call = await RealtimeCall.start({}, { url: 'ws://127.0.0.1:9/v1/realtime' })
    call.client = await TestClient.connect(call.edge.post)
    await call.assertTold('bridge_failed')
  })

  it('that stalls before it begins: the caller hears of it in time', async () => {
    await using call = await RealtimeCall.start({ silent: true }, { connectTimeoutMs: 500 })
    await call.connect()
    await call.assertTold('bridge_timeout')
  })

  it('that stalls in mid-call, pongs and all: the caller hears of it in time', async () => {
    await using call = await RealtimeCall.begin({}, { idleTimeoutMs: 400 })
    await assertGoesOn(call)
    call.peer.socket.pause()
    await call.assertTold('bridge_timeout')
    call.peer.socket.resume()
  })

  it('that floods with events: the caller gets the first, and the call goes on', async () => {
    await using call = await RealtimeCall.begin()
    const memory = memoryInUse()
    for (let n = 0; n < 20_000; n++) call.peer.emit({ type: 'note', n })
    await eventually('they have left', () => call.peer.socket.bufferedAmount === 0, 10_000)
    for (let n = 0; n < 100; n++) assert.partialDeepStrictEqual(await call.client.events.take(), { n })
    const grown = (memoryInUse() - memory) / MEGABYTE
    assert.ok(grown < 24, `${grown} MB more`)
    // What the backend says now lies behind all of it.
    call.peer.respond()
    await call.client.audio.takeMany(20)
    assert.equal(await call.edge.hangUp(call.client.url!), 200)
    assert.equal(await call.client.ended, 'close_notify')
  })

  it('that floods with errors: they are passed on, and the call goes on', async () => {
    await using call = await RealtimeCall.begin()
    for (let n = 0; n < 50; n++) call.peer.emit({ type: 'error', error: { message: `no ${n}` } })
    for (let n = 0; n < 50; n++)
      assert.partialDeepStrictEqual(await call.client.events.take(), { error: { message: `no ${n}` } })
    await assertGoesOn(call)
  })

  it('that sends a minute of audio at once: it is kept and played in time, and speech cuts it short', async () => {
    await using call = await RealtimeCall.begin({ answer: () => ({ say: 'much', ms: 60_000 }) })
    const memory = memoryInUse()
    await assertGoesOn(call)
    await call.until('rate_limits.updated').catch(() => {})
    const grown = (memoryInUse() - memory) / MEGABYTE
    assert.ok(grown < 24, `${grown} MB more`)
    await call.whistle(160)
    await call.until('output_audio_buffer.cleared')
    const { audio_end_ms } = await call.until('conversation.item.truncated')
    assert.ok(Number(audio_end_ms) < 10_000, `${audio_end_ms}`)
    assert.deepEqual(call.peer.refused, [])
  })

  it('that answers before the session is made: session.created comes first, and the answer is heard', async () => {
    await using call = await RealtimeCall.start({ silent: true })
    await call.connect()
    call.peer.greet()
    call.peer.respond()
    assert.equal((await call.client.events.take()).type, 'session.created')
    assert.equal((await call.client.events.take()).type, 'response.created')
    await call.until('output_audio_buffer.started')
  })
})

describe('a Realtime client', () => {
  it('that closes without a word: the backend’s connection is closed in order', async () => {
    await using call = await RealtimeCall.begin()
    await assertGoesOn(call)
    const closed = call.peer.closed()
    await call.client.close()
    assert.equal(await closed, 1000)
  })

  it('that commits before anything was said: it hears so, and the call goes on', async () => {
    await using call = await RealtimeCall.begin()
    call.client.sendEvent({ type: 'input_audio_buffer.commit', event_id: 'mine' })
    const error = await call.until('error')
    assert.partialDeepStrictEqual(error.error, { code: 'input_audio_buffer_commit_empty', event_id: 'mine' })
    await assertGoesOn(call)
  })

  it('that commits before the backend is there: it commits when the backend is', async () => {
    await using call = await RealtimeCall.start({ silent: true })
    await call.connect()
    call.client.sendEvent({ type: 'input_audio_buffer.commit' })
    await call.whistle(400)
    call.peer.greet()
    await call.until('input_audio_buffer.committed')
    assert.equal(call.peer.audioBytes / 48, 400)
  })

  it('that interrupts before the first frame: the response is cancelled, and nothing truncated', async () => {
    const answer = (n: number) => ({ say: 'one two', thinkMs: n < 2 ? 60_000 : 0 })
    await using call = await RealtimeCall.begin({ answer })
    const cancelled = () => call.peer.receivedTypes.filter((type) => type === 'response.cancel').length
    // By speech: the backend has cancelled by itself, and minds our doing so. That is between it and the edge.
    call.client.sendEvent({ type: 'response.create' })
    await call.until('response.content_part.added')
    call.peer.onVad({ type: 'started', atMs: 0 })
    await call.until('response.done')
    await eventually('it was cancelled', () => cancelled() === 1)
    assert.equal(call.peer.refused.at(-1)?.code, 'response_cancel_not_active')
    // By the client.
    call.client.sendEvent({ type: 'response.create' })
    await call.until('response.content_part.added')
    call.client.sendEvent({ type: 'output_audio_buffer.clear' })
    const told = await call.client.events.takeMany(2)
    assert.equal(told[0]?.type, 'output_audio_buffer.cleared')
    await call.until('response.done')
    assert.equal(cancelled(), 2)
    assert.ok(!call.peer.receivedTypes.includes('conversation.item.truncate'))
    assert.equal(call.client.audio.total, 0)
    assert.ok(!told.some(({ type }) => type === 'error'))
    await assertGoesOn(call)
  })

  it('that sends 1,000 events a second: they arrive in order, and the caller is heard', async () => {
    await using call = await RealtimeCall.begin()
    const talking = call.whistle(1000)
    const content = [{ type: 'input_text', text: 'x' }]
    for (let sent = 0; sent < 1000; ) {
      const until = sent + 20
      for (; sent < until; sent++) {
        const item = { type: 'message', role: 'user', id: `mine_${sent}`, content }
        call.client.sendEvent({ type: 'conversation.item.create', item })
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await talking
    await call.silence()
    await eventually('the backend heard speech end', () => call.peer.items.all.length > 1000, 10_000)
    const created = call.peer.items.all.map(({ id }) => id).filter((id) => id.startsWith('mine_'))
    assert.deepEqual(
      created,
      Array.from({ length: created.length }, (_, n) => `mine_${n}`),
    )
    assert.ok(call.peer.audioBytes / 48 >= 1200, `${call.peer.audioBytes / 48} ms were heard`)
  })
})

function nested(depth: number): string {
  return `{"type":"x","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`
}
