/** The parrot keeps the bridge contract, answers with what was said, and falls silent when it is spoken over. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Value } from 'typebox/value'
import type { InferenceBridge, JsonObject } from '../../../../../core/index.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall } from '../../../../../core/testing/fake-call.ts'
import { checkInferenceBridge } from '../../../../../core/testing/inference-bridge.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import plugin from '../../../../../plugins/inference-bridge/parrot/index.ts'
import { silence, vowel } from './voices.ts'

async function parrot(): Promise<{ bridge: InferenceBridge; close(): Promise<void> }> {
  const { context, close } = pluginContext()
  const options = Value.Parse(plugin.options, Value.Default(plugin.options, {}))
  const { bridge } = await plugin.setup(options, {}, context)
  return { bridge, close }
}

checkInferenceBridge('the parrot', parrot)

const typesOf = (events: readonly JsonObject[]): unknown[] => events.map(({ type }) => type)

/** The id of the item that the first event of a type brings. */
function itemOf(events: readonly JsonObject[], type: string): unknown {
  const item = events.find((event) => event.type === type)?.item
  assert.ok(typeof item === 'object' && item !== null && 'id' in item)
  return item.id
}

/** A call with a parrot on it; what it plays stays queued when `hold`. */
async function call(hold: boolean, run: (call: FakeCall) => Promise<void>): Promise<void> {
  const { bridge, close } = await parrot()
  const fake = new FakeCall(bridge.audio, { hold })
  const opened = bridge.open(fake)
  try {
    await run(fake)
  } finally {
    fake.close()
    await opened
    await close()
  }
  assert.deepEqual(fake.breaches, [])
}

it('says back what was said, once the speaker has finished', async () => {
  await call(false, async (fake) => {
    const said = vowel(1000)
    fake.speak(...silence(400), ...said)
    await eventually('the speech was noticed', () =>
      typesOf(fake.sent).includes('input_audio_buffer.speech_started'),
    )
    assert.equal(fake.played.length, 0, 'it does not interrupt')
    fake.speak(...silence(900))
    await eventually('it answered', () => typesOf(fake.sent).includes('response.done'))
    const answer = Buffer.concat(fake.played.map(({ data }) => data))
    const words = Buffer.concat(said.map(({ data }) => data))
    assert.ok(answer.includes(words), 'all of the words are in the answer')
    assert.ok(
      answer.length < words.length + 32 * 700,
      `${answer.length / 32} ms for ${words.length / 32} ms of words`,
    )
    await eventually('the client heard of the end', () =>
      typesOf(fake.sent).includes('output_audio_buffer.stopped'),
    )
    assert.deepEqual(typesOf(fake.sent), [
      'session.created',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'response.created',
      'response.output_item.added',
      'output_audio_buffer.started',
      'response.output_item.done',
      'response.done',
      'output_audio_buffer.stopped',
    ])
  })
})

it('falls silent when it is spoken over, and says how far it came', async () => {
  await call(true, async (fake) => {
    fake.speak(...silence(400), ...vowel(2000), ...silence(900))
    await eventually('it began to answer', () => fake.queuedMs > 0)
    fake.release(160)
    fake.speak(...vowel(300))
    await eventually('it heard that', () => typesOf(fake.sent).includes('output_audio_buffer.cleared'))
    assert.equal(fake.queuedMs, 0)
    const truncated = fake.sent.find(({ type }) => type === 'conversation.item.truncated')
    assert.equal(truncated?.audio_end_ms, 160)
    assert.equal(truncated?.item_id, itemOf(fake.sent, 'response.output_item.added'))
    const types = typesOf(fake.sent)
    const started = types.lastIndexOf('input_audio_buffer.speech_started')
    assert.deepEqual(types.slice(started, started + 3), [
      'input_audio_buffer.speech_started',
      'output_audio_buffer.cleared',
      'conversation.item.truncated',
    ])
    await eventually('the answer is over', () => typesOf(fake.sent).includes('response.done'))
    const done = fake.sent.find(({ type }) => type === 'response.done')
    assert.deepEqual(done?.response, { id: 'resp_1', status: 'cancelled' })
    const heard = fake.played.length
    fake.speak(...silence(900))
    await eventually('it answers that too', () => fake.played.length > heard)
  })
})

it('leaves an answer alone that was heard to its end', async () => {
  await call(false, async (fake) => {
    fake.speak(...silence(400), ...vowel(600), ...silence(900))
    await eventually('it answered', () => typesOf(fake.sent).includes('output_audio_buffer.stopped'))
    fake.speak(...vowel(600))
    await eventually(
      'it listens',
      () => typesOf(fake.sent).filter((t) => t === 'input_audio_buffer.speech_started').length === 2,
    )
    assert.ok(!typesOf(fake.sent).includes('output_audio_buffer.cleared'))
  })
})

it('does as the client says', async () => {
  await call(true, async (fake) => {
    fake.say({ type: 'session.update', session: { instructions: 'be a parrot' } })
    await eventually('it knows', () => typesOf(fake.sent).includes('session.updated'))
    const { session } = fake.sent.at(-1)!
    assert.deepEqual(session, {
      type: 'realtime',
      object: 'realtime.session',
      model: 'parrot',
      instructions: 'be a parrot',
    })
    fake.speak(...silence(400), ...vowel(800))
    await eventually('it listens', () => typesOf(fake.sent).includes('input_audio_buffer.speech_started'))
    fake.say({ type: 'input_audio_buffer.commit' })
    await eventually('it answers without a pause', () => fake.queuedMs > 0)
    fake.say({ type: 'output_audio_buffer.clear' })
    await eventually('it is silent', () => fake.queuedMs === 0)
    fake.say({ type: 'sing' })
    await eventually('it says that it cannot', () => typesOf(fake.sent).includes('error'))
  })
})

it('keeps a session in mind, but not one that grows with each update', async () => {
  await call(false, async (fake) => {
    const updated = (): number => typesOf(fake.sent).filter((type) => type === 'session.updated').length
    const errors = (): unknown[] => fake.sent.filter(({ type }) => type === 'error').map(({ error }) => error)
    for (let n = 0; n < 10; n++) {
      fake.say({ type: 'session.update', event_id: `e${n}`, session: { [`key${n}`]: 'x'.repeat(10_000) } })
    }
    await eventually('all are answered', () => updated() + errors().length === 10)
    assert.equal(updated(), 6)
    const [error] = errors()
    assert.ok(typeof error === 'object' && error !== null && 'code' in error && 'event_id' in error)
    assert.deepEqual([error.code, error.event_id], ['session_too_large', 'e6'])
    fake.say({ type: 'session.update', session: { key0: 'short' } })
    await eventually('what makes it shorter is taken', () => updated() === 7)
  })
})
