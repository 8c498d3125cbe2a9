/** The bridge between a fake call and a scripted backend. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { Value } from 'typebox/value'
import { type AudioFrame, EdgeError, type InferenceBridge } from '../../../../../core/index.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall, type FakeCallOptions } from '../../../../../core/testing/fake-call.ts'
import { checkInferenceBridge } from '../../../../../core/testing/inference-bridge.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import type { RecordedSpan } from '../../../../../core/testing/span-log.ts'
import { RealtimeBridge } from '../../../../../plugins/inference-bridge/openai-realtime/bridge.ts'
import { Options } from '../../../../../plugins/inference-bridge/openai-realtime/options.ts'
import { type BackendOptions, RealtimeBackend } from '../../../../peers/realtime-backend.ts'
import type { BackendConversation } from '../../../../peers/realtime-backend-conversation.ts'

const PCM = { pcm16: 24_000 } as const

/** The n-th 20 ms of a caller who says nothing. */
function quiet(n: number): AudioFrame {
  return { data: new Uint8Array(960), durationMs: 20, timestampMs: 20 * n }
}

function bridgeTo(url: string, options: object = {}, context = pluginContext().context): InferenceBridge {
  const complete = Value.Parse(Options, Value.Default(Options, { url, model: 'any', ...options }))
  return new RealtimeBridge(complete, context)
}

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

/** A call under way: with its backend, until the end of the scope. */
class Rig implements AsyncDisposable {
  readonly backend: RealtimeBackend
  readonly call: FakeCall
  readonly opened: Promise<void>
  peer!: BackendConversation

  readonly spans: readonly RecordedSpan[]

  private constructor(backend: RealtimeBackend, options: object, call: FakeCallOptions) {
    const { context, spans } = pluginContext()
    this.backend = backend
    this.spans = spans
    this.call = new FakeCall(PCM, call)
    this.opened = bridgeTo(backend.url, options, context).open(this.call)
    this.opened.catch(() => {})
  }

  static async start(
    script: BackendOptions = {},
    options: object = {},
    call: FakeCallOptions = {},
  ): Promise<Rig> {
    const rig = new Rig(await RealtimeBackend.start(script), options, call)
    rig.peer = await rig.backend.conversations.take()
    return rig
  }

  /** Types of the events that the client got. */
  get told(): unknown[] {
    return this.call.sent.map(({ type }) => type)
  }

  async untilTold(type: string): Promise<void> {
    await eventually(`the client is told ${type}`, () => this.told.includes(type))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.call.close()
    await this.opened.catch(() => {})
    await eventually('no connection is left', () => this.backend.open === 0)
    await this.backend.close()
    assert.deepEqual(this.call.breaches, [])
  }
}

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
