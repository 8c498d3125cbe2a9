/** The bridge between a fake call and a scripted backend. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AudioFrame } from '../../../../../core/index.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { checkInferenceBridge } from '../../../../../core/testing/inference-bridge.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import { RealtimeBackend } from '../../../../peers/realtime-backend.ts'
import { bridgeTo, quiet, Rig } from './call-rig.ts'

checkInferenceBridge(
  'openai-realtime',
  async () => {
    const backend = await RealtimeBackend.start({ answer: () => ({ say: 'one two', ms: 2000 }) })
    const { context, spans } = pluginContext()
    return { bridge: bridgeTo(backend.url, {}, context), spans, close: () => backend.close() }
  },
  {
    turns: {
      ask: (call) => call.say({ type: 'response.create' }),
      interrupt: (call) => call.say({ type: 'output_audio_buffer.clear' }),
      commit: (call) => call.say({ type: 'input_audio_buffer.commit' }),
    },
    // It keeps all that a backend is ahead, so that what follows the audio is heard.
    aheadMs: 600_000,
    broken: () => ({ bridge: bridgeTo('ws://127.0.0.1:9/v1/realtime') }),
  },
)

describe('a call with a backend', () => {
  it('begins with the model, the key and the session, in which the client goes before the operator', async () => {
    const session = { instructions: 'ours', audio: { output: { voice: 'ours', speed: 1.1 } } }
    const theirs = { audio: { output: { voice: 'theirs' } } }
    await using rig = await Rig.start({ key: 'sk' }, { apiKey: 'sk', session }, { session: theirs })
    assert.equal(rig.peer.url.search, '?model=any')
    const update = await rig.peer.received.take()
    assert.partialDeepStrictEqual(update, {
      type: 'session.update',
      session: { instructions: 'ours', audio: { output: { voice: 'theirs', speed: 1.1 } } },
    })
    await rig.untilTold('session.created')
    assert.deepEqual(rig.told, ['session.created'])
    assert.partialDeepStrictEqual(rig.call.sent[0], { session: { instructions: 'ours' } })
    assert.deepEqual(rig.peer.refused, [])
  })

  it('asks nothing and says nothing until the backend is there', async () => {
    await using rig = await Rig.start({ silent: true })
    rig.call.say({ type: 'session.update', session: { type: 'realtime', instructions: 'Be kind.' } })
    rig.call.speak(quiet(1))
    await eventually('the client’s event was taken', () => rig.call.unread === 1)
    rig.peer.greet()
    await rig.untilTold('session.updated')
    assert.deepEqual(rig.told, ['session.created', 'session.updated'])
    await eventually('the audio came', () => rig.peer.audioBytes === 960)
    assert.deepEqual(rig.peer.receivedTypes.slice(0, 2), ['session.update', 'session.update'].slice(0, 2))
    assert.equal(rig.peer.received.length, 2)
  })

  it('commits behind all that the caller has said', async () => {
    await using rig = await Rig.start()
    await rig.untilTold('session.created')
    for (let n = 0; n < 50; n++) rig.call.speak(quiet(n))
    rig.call.say({ type: 'input_audio_buffer.commit' }, { type: 'response.create' })
    await rig.untilTold('response.created')
    const types = rig.peer.receivedTypes
    assert.equal(
      types.lastIndexOf('input_audio_buffer.append') + 1,
      types.indexOf('input_audio_buffer.commit'),
    )
    assert.equal(types.at(-1), 'response.create')
    assert.equal(rig.peer.audioBytes, 50 * 960)
  })

  it('tells of playing: started, and stopped behind response.done', async () => {
    await using rig = await Rig.start({}, {}, { hold: true })
    await rig.untilTold('session.created')
    rig.call.say({ type: 'response.create' })
    await rig.untilTold('response.done')
    assert.equal(rig.call.queuedMs, 1000)
    assert.ok(!rig.told.includes('output_audio_buffer.started'))
    rig.call.release(20)
    await rig.untilTold('output_audio_buffer.started')
    rig.call.release()
    await rig.untilTold('output_audio_buffer.stopped')
    assert.ok(!rig.told.includes('response.output_audio.delta'))
  })

  it('hears of speech over ten seconds that came at once, and truncates them where they were', async () => {
    const answer = () => ({ say: 'one two three four five six seven eight nine ten', ms: 10_000 })
    await using rig = await Rig.start({ answer }, {}, { hold: true })
    await rig.untilTold('session.created')
    rig.call.say({ type: 'response.create' })
    await rig.untilTold('response.done')
    rig.call.release(3210)
    rig.peer.onVad({ type: 'started', atMs: 0 })
    await rig.untilTold('conversation.item.truncated')
    assert.equal(rig.call.queuedMs, 0)
    assert.partialDeepStrictEqual(rig.call.sent.at(-1), { audio_end_ms: 3210 })
    assert.ok(rig.told.indexOf('output_audio_buffer.cleared') > rig.told.lastIndexOf('response.done'))
    assert.deepEqual(rig.peer.refused, [])
  })

  it('reads no further than so far ahead, and on when there is room', async () => {
    const answer = () => ({ say: 'much', ms: 20_000 })
    await using rig = await Rig.start({ answer }, { maxQueuedMs: 1000 }, { hold: true })
    await rig.untilTold('session.created')
    rig.call.say({ type: 'response.create' })
    await eventually('it stopped reading', () => rig.call.queuedMs > 1000)
    rig.peer.emit({ type: 'behind' })
    assert.ok(!rig.told.includes('response.done'))
    // What had been taken from the socket by then is played too: no more than its read buffer.
    assert.ok(rig.call.queuedMs <= 3000, `${rig.call.queuedMs}`)
    rig.call.release()
    await rig.untilTold('response.done')
    assert.equal(rig.call.played.length, 200)
  })

  it('reads on at once when the client clears the output', async () => {
    const answer = () => ({ say: 'much', ms: 4000 })
    await using rig = await Rig.start({ answer }, { maxQueuedMs: 1000 }, { hold: true })
    await rig.untilTold('session.created')
    rig.call.say({ type: 'response.create' })
    await eventually('it stopped reading', () => rig.call.queuedMs > 1000)
    rig.call.say({ type: 'output_audio_buffer.clear' })
    await rig.untilTold('response.done')
    assert.equal(rig.call.queuedMs, 0)
  })

  it('does not let the caller’s audio pile up at a backend that does not read', async () => {
    await using rig = await Rig.start()
    await rig.untilTold('session.created')
    rig.peer.socket.pause()
    const second = (n: number): AudioFrame => ({
      data: new Uint8Array(48_000),
      durationMs: 1000,
      timestampMs: 1000 * n,
    })
    rig.call.speak(...Array.from({ length: 400 }, (_, n) => second(n)))
    let last = -1
    await eventually('it stopped reading the caller', async () => {
      const before = last
      last = rig.call.unread
      await new Promise((resolve) => setTimeout(resolve, 30))
      return before === last
    })
    assert.ok(rig.call.unread > 100, `only ${rig.call.unread} of 400 s were left unread`)
    rig.peer.socket.resume()
    await eventually('it read on', () => rig.call.unread === 0, 5000)
  })

  it('reads binary messages as text', async () => {
    await using rig = await Rig.start()
    rig.peer.socket.send(Buffer.from('{"type":"note"}'))
    await rig.untilTold('note')
  })

  it('has a span for connecting, one for the conversation, and one for each response', async () => {
    await using rig = await Rig.start()
    await rig.untilTold('session.created')
    rig.call.say({ type: 'response.create' })
    await rig.untilTold('response.done')
    const named = (name: string) => rig.spans.filter((span) => span.name === name).map(({ ended }) => ended)
    assert.deepEqual([named('bridge.connect'), named('bridge.session')], [[true], [false]])
    assert.deepEqual(named('bridge.turn'), [true])
  })

  it('ends in order when the backend closes with 1000', async () => {
    await using rig = await Rig.start()
    rig.peer.socket.close(1000)
    await rig.opened
  })

  it('plays what was said, and tells of it, when the backend then hangs up', async () => {
    await using rig = await Rig.start({}, {}, { hold: true })
    await rig.untilTold('session.created')
    rig.peer.respond()
    rig.peer.socket.close(1000)
    await rig.untilTold('rate_limits.updated')
    await eventually('the connection is closed', () => rig.backend.open === 0)
    assert.equal(rig.call.queuedMs, 1000)
    rig.call.release()
    await rig.opened
    assert.equal(rig.told.at(-1), 'output_audio_buffer.stopped')
  })

  it('tells the client what came last before the backend was lost', async () => {
    await using rig = await Rig.start({ deaf: true })
    rig.peer.emit({ type: 'response.created', response: { id: 'resp_1' } })
    rig.peer.emit({ type: 'error', error: { message: 'Out of credit.' } })
    rig.peer.socket.close(1011)
    await assert.rejects(rig.opened)
    assert.deepEqual(rig.told, ['session.created', 'response.created', 'error'])
  })

  it('goes on when the session is not acknowledged in time', async () => {
    await using rig = await Rig.start({ deaf: true }, { connectTimeoutMs: 400 })
    await rig.untilTold('session.created')
  })
})
