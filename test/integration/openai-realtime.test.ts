/** Calls to a Realtime backend: turns, tools, push-to-talk, and interruptions that both sides agree about. */

import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { JsonObject } from '../../core/index.ts'
import { assertHandles, handles } from './support/handles.ts'
import { RealtimeCall } from './support/realtime-call.ts'
import { tonesIn } from './support/tones.ts'

const AT_START = handles()
const LONG = { say: 'one two three four five six seven eight nine ten', ms: 10_000 }

afterEach(() => assertHandles(AT_START))

describe('a call to a Realtime backend', () => {
  it('takes a turn: speech goes up, an answer is heard, and the client is told of all of it in order', async () => {
    await using call = await RealtimeCall.begin({
      answer: () => ({ say: 'All right.', ms: 400, hertz: 1000 }),
    })
    await call.whistle()
    await call.silence()
    const events = [await call.client.events.take()]
    while (events.at(-1)?.type !== 'output_audio_buffer.stopped') events.push(await call.client.events.take())
    const types = events.map(({ type }) => type)
    // It starts as soon as audio has left, however much of the answer is still to be read.
    const started = types.indexOf('output_audio_buffer.started')
    assert.ok(started > types.indexOf('response.content_part.added'), types.join(' '))
    types.splice(started, 1)
    assert.deepEqual(
      types.filter((type) => type !== 'response.output_audio_transcript.delta'),
      [
        'input_audio_buffer.speech_started',
        'input_audio_buffer.speech_stopped',
        'input_audio_buffer.committed',
        'conversation.item.added',
        'conversation.item.done',
        'response.created',
        'response.output_item.added',
        'conversation.item.added',
        'response.content_part.added',
        'response.output_audio.done',
        'response.output_audio_transcript.done',
        'response.content_part.done',
        'conversation.item.done',
        'response.output_item.done',
        'response.done',
        'rate_limits.updated',
        'output_audio_buffer.stopped',
      ],
    )
    const heard = call.client.audio.drain().map(({ payload }) => payload)
    assert.deepEqual(tonesIn(heard, [{ hertz: 600 }, { hertz: 1000 }].map(withLength), 200), [1])
  })

  it('is told of the audio before the answer is complete, when the backend takes its time', async () => {
    const answer = () => ({ say: 'one two', ms: 400, chunkMs: 100, everyMs: 100 })
    await using call = await RealtimeCall.begin({ answer })
    call.client.sendEvent({ type: 'response.create' })
    const { response } = await call.until('response.created')
    const started = await call.until('output_audio_buffer.started')
    assert.partialDeepStrictEqual(response, { id: started.response_id })
    await call.until('response.done')
    await call.until('output_audio_buffer.stopped')
  })

  it('passes a tool’s call and its result, and the answer that follows', async () => {
    const answers = [
      { call: 'get_weather', arguments: { city: 'Rome' } },
      { say: 'Sunny.', ms: 200 },
    ]
    await using call = await RealtimeCall.begin({ answer: (n) => answers[n] })
    call.client.sendEvent({ type: 'response.create' })
    const called = await call.until('response.function_call_arguments.done')
    assert.deepEqual(JSON.parse(String(called.arguments)), { city: 'Rome' })
    const item = { type: 'function_call_output', call_id: called.call_id!, output: '{"sky":"clear"}' }
    await call.until('response.done')
    call.client.sendEvent({ type: 'conversation.item.create', item })
    call.client.sendEvent({ type: 'response.create' })
    const told = await call.client.events.find(
      ({ type, item }) => type === 'conversation.item.done' && output(item) !== undefined,
    )
    assert.equal(output(told.item), '{"sky":"clear"}')
    await call.until('output_audio_buffer.stopped')
  })

  it('commits, when the client pushes to talk, all that was said', async () => {
    await using call = await RealtimeCall.begin(
      {},
      { session: { audio: { input: { turn_detection: null } } } },
    )
    await call.whistle(400)
    call.client.sendEvent({ type: 'input_audio_buffer.commit' })
    await call.until('input_audio_buffer.committed')
    assert.equal(call.peer.audioBytes / 48, 400)
    call.client.sendEvent({ type: 'response.create' })
    await call.until('output_audio_buffer.started')
  })

  it('tells a client of its session what the backend made of it, and nothing before that', async () => {
    await using call = await RealtimeCall.start()
    await call.connect()
    call.client.sendEvent({ type: 'session.update', session: { type: 'realtime', instructions: 'Be kind.' } })
    const [created, updated] = await call.client.events.takeMany(2)
    assert.partialDeepStrictEqual(created, {
      type: 'session.created',
      session: { audio: { input: { turn_detection: { silence_duration_ms: 200 } } } },
    })
    assert.partialDeepStrictEqual(updated, { type: 'session.updated', session: { instructions: 'Be kind.' } })
  })
})

describe('an answer of ten seconds that came at once', () => {
  /** Waits until some of it was heard, and talks over it. */
  async function interrupted(call: RealtimeCall, by: () => unknown): Promise<JsonObject> {
    call.client.sendEvent({ type: 'response.create' })
    await call.client.audio.takeMany(25)
    await by()
    await call.until('output_audio_buffer.cleared')
    return call.until('conversation.item.truncated')
  }

  /**
   * Counts, when the call is over, what the caller was sent: so many milliseconds, and at most the one packet of
   * silence that brings an encoder's last samples out.
   */
  async function assertSent(call: RealtimeCall, ms: unknown): Promise<void> {
    assert.equal(await call.edge.hangUp(call.client.url!), 200)
    await call.client.ended
    const sent = call.client.audio.total * 20
    assert.ok(sent === ms || sent - 20 === ms, `${sent} ms were sent, not ${ms}`)
  }

  it('is interrupted by speech, and truncated at the millisecond that was sent', async () => {
    await using call = await RealtimeCall.begin({ answer: () => LONG })
    const truncated = await interrupted(call, () => call.whistle(160))
    assert.deepEqual(call.peer.refused, [])
    await assertSent(call, truncated.audio_end_ms)
    const [item] = call.peer.items.all
    const words = Math.floor(Number(truncated.audio_end_ms) / 1000)
    assert.equal(item!.transcript, LONG.say.split(' ').slice(0, words).join(' '))
  })

  it('is interrupted by the client, likewise', async () => {
    await using call = await RealtimeCall.begin({ answer: () => LONG })
    const truncated = await interrupted(call, () =>
      call.client.sendEvent({ type: 'output_audio_buffer.clear' }),
    )
    await assertSent(call, truncated.audio_end_ms)
    assert.deepEqual(call.peer.refused, [])
  })

  it('is heard on when speech is not to interrupt', async () => {
    const input = { turn_detection: { interrupt_response: false, silence_duration_ms: 200 } }
    await using call = await RealtimeCall.begin({ answer: () => LONG }, { session: { audio: { input } } })
    call.client.sendEvent({ type: 'response.create' })
    await call.client.audio.takeMany(10)
    await call.whistle(160)
    await call.until('input_audio_buffer.speech_started')
    await call.client.audio.takeMany(50)
    assert.ok(!call.client.events.drain().some(({ type }) => type === 'output_audio_buffer.cleared'))
  })

  it('is cut nowhere when the client cancels the response: what came is heard', async () => {
    const answer = () => ({ say: 'one two three four', ms: 2000, chunkMs: 500, everyMs: 400 })
    await using call = await RealtimeCall.begin({ answer })
    call.client.sendEvent({ type: 'response.create' })
    await call.until('output_audio_buffer.started')
    call.client.sendEvent({ type: 'response.cancel' })
    await call.until('response.done')
    await call.until('output_audio_buffer.stopped')
    const [item] = call.peer.items.all
    await assertSent(call, item!.audioMs)
  })
})

function withLength({ hertz }: { hertz: number }): { hertz: number; durationMs: number } {
  return { hertz, durationMs: 400 }
}

function output(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'output' in item ? item.output : undefined
}
