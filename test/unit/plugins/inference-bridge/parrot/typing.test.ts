/** What is typed to the parrot comes back in writing, by the events of OpenAI Realtime and as OpenAI's own SDK reads them. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  OpenAIRealtimeBase,
  RealtimeAgent,
  type RealtimeClientMessage,
  RealtimeSession,
} from '@openai/agents-realtime'
import { Value } from 'typebox/value'
import type { JsonObject } from '../../../../../core/index.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { FakeCall } from '../../../../../core/testing/fake-call.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import plugin from '../../../../../plugins/inference-bridge/parrot/index.ts'
import { silence, vowel } from './voices.ts'

/** A call with a parrot on it, until the end of the scope. */
class Parrot implements AsyncDisposable {
  readonly call: FakeCall
  readonly #over: Promise<unknown>

  private constructor(call: FakeCall, over: Promise<unknown>) {
    this.call = call
    this.#over = over
  }

  static async start(hold = false): Promise<Parrot> {
    const { context, close } = pluginContext()
    const options = Value.Parse(plugin.options, Value.Default(plugin.options, {}))
    const { bridge } = await plugin.setup(options, {}, context)
    const call = new FakeCall(bridge.audio, { hold })
    return new Parrot(call, bridge.open(call).finally(close))
  }

  /** Says something to it, and gives the events that come up to one of a type. */
  async tell(last: string, ...events: JsonObject[]): Promise<JsonObject[]> {
    const known = this.call.sent.length
    this.call.say(...events)
    const found = () => this.call.sent.findIndex(({ type }, n) => n >= known && type === last)
    await eventually(`it sends ${last}`, () => found() !== -1)
    return this.call.sent.slice(known, found() + 1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.call.close()
    await this.#over
    assert.deepEqual(this.call.breaches, [])
  }
}

const typed = (text: string): JsonObject => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})
const typesOf = (events: readonly JsonObject[]): unknown[] => events.map(({ type }) => type)

describe('what is typed to the parrot', () => {
  it('is acknowledged, and comes back in writing when a response is asked for', async () => {
    await using parrot = await Parrot.start()
    const told = await parrot.tell('response.done', typed('Polly?'), { type: 'response.create' })
    const from = typesOf(told).indexOf('conversation.item.added')
    assert.deepEqual(typesOf(told).slice(from), [
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ])
    const answer = {
      id: 'item_2',
      object: 'realtime.item',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Polly?' }],
    }
    const done = told.at(-1)
    assert.partialDeepStrictEqual(done, {
      response: { id: 'resp_1', status: 'completed', output_modalities: ['text'], output: [answer] },
    })
    assert.deepEqual(new Set(told.map(({ event_id }) => event_id)).size, told.length, 'each has an id')
    assert.equal(parrot.call.played.length, 0)
  })

  it('is not answered twice: a response that nothing is left to say in is empty', async () => {
    await using parrot = await Parrot.start()
    await parrot.tell('response.done', typed('one'), typed('two'), { type: 'response.create' })
    const text = parrot.call.sent.find(({ type }) => type === 'response.output_text.done')?.text
    assert.equal(text, 'two', 'the last is answered')
    const told = await parrot.tell('response.done', { type: 'response.create' })
    assert.deepEqual(typesOf(told), ['response.created', 'response.done'])
    assert.partialDeepStrictEqual(told.at(-1), { response: { status: 'completed', output: [] } })
  })

  it('keeps its place and the id that the client gave it; what is no typing is only acknowledged', async () => {
    await using parrot = await Parrot.start()
    const output = { type: 'function_call_output', call_id: 'c', output: '{}', id: 'mine' }
    const [added] = (await parrot.tell('conversation.item.added', typed('a'))).slice(-1)
    assert.partialDeepStrictEqual(added, {
      previous_item_id: null,
      item: { id: 'item_1', status: 'completed' },
    })
    const told = await parrot.tell('conversation.item.done', {
      type: 'conversation.item.create',
      item: output,
    })
    assert.partialDeepStrictEqual(told.at(-1), { previous_item_id: 'item_1', item: output })
    await parrot.tell('response.done', { type: 'response.create' })
    const text = parrot.call.sent.find(({ type }) => type === 'response.output_text.done')?.text
    assert.equal(text, 'a')
  })

  it('can be asked for again, as long as it is not long ago', async () => {
    await using parrot = await Parrot.start()
    const retrieve = { type: 'conversation.item.retrieve', item_id: 'item_1', event_id: 'e' }
    await parrot.tell('conversation.item.done', typed('first'))
    const [found] = (await parrot.tell('conversation.item.retrieved', retrieve)).slice(-1)
    assert.partialDeepStrictEqual(found, { item: { content: [{ text: 'first' }] } })
    parrot.call.say(...Array.from({ length: 16 }, () => typed('more')))
    const [refused] = (await parrot.tell('error', retrieve)).slice(-1)
    assert.partialDeepStrictEqual(refused, {
      error: { code: 'item_not_found', param: 'item_id', event_id: 'e' },
    })
  })

  it('is refused when it is nothing', async () => {
    await using parrot = await Parrot.start()
    const [refused] = (await parrot.tell('error', { type: 'conversation.item.create' })).slice(-1)
    assert.partialDeepStrictEqual(refused, { error: { code: 'missing_required_parameter', param: 'item' } })
  })

  it('does not interrupt what the parrot says, which is the answer to a response that is asked for meanwhile', async () => {
    await using parrot = await Parrot.start(true)
    parrot.call.speak(...silence(400), ...vowel(800), ...silence(900))
    await eventually('it speaks', () => parrot.call.queuedMs > 0)
    const told = await parrot.tell('session.updated', { type: 'response.create' }, { type: 'session.update' })
    assert.deepEqual(typesOf(told), ['session.updated'])
    await parrot.tell('response.done', typed('psst'), { type: 'response.create' })
    assert.ok(parrot.call.queuedMs > 0)
  })
})

/** OpenAI's Agents SDK on a call with the parrot, without a network between them. */
class ToParrot extends OpenAIRealtimeBase {
  readonly muted = null
  readonly #parrot: Parrot
  status: 'connected' | 'disconnected' = 'disconnected'

  constructor(parrot: Parrot) {
    super()
    this.#parrot = parrot
  }

  async connect(): Promise<void> {
    const { call } = this.#parrot
    const send = call.send.bind(call)
    call.send = (event) => {
      send(event)
      this._onMessage(new MessageEvent('message', { data: JSON.stringify(event) }))
    }
    this.status = 'connected'
    this._onOpen()
  }

  sendEvent(event: RealtimeClientMessage): void {
    this.#parrot.call.say(JSON.parse(JSON.stringify(event)))
  }

  mute(): void {}
  interrupt(): void {}
  close(): void {
    this._onClose()
  }
}

it('OpenAI’s Agents SDK reads it as a conversation, interruptions included', async () => {
  await using parrot = await Parrot.start(true)
  const session = new RealtimeSession(new RealtimeAgent({ name: 'Polly' }), {
    transport: new ToParrot(parrot),
  })
  const errors: unknown[] = []
  session.on('error', (error) => errors.push(error))
  await session.connect({ apiKey: 'none' })
  session.sendMessage('Polly?')
  const history = () =>
    session.history.map((item) =>
      'status' in item && 'role' in item ? [item.role, item.status, item.content] : item,
    )
  const message = (role: string, type: string) => [role, 'completed', [{ type, text: 'Polly?' }]]
  await eventually('it is answered', () => history().length === 2)
  assert.deepEqual(history(), [message('user', 'input_text'), message('assistant', 'output_text')])

  parrot.call.speak(...silence(400), ...vowel(2000), ...silence(900))
  await eventually('it speaks', () => parrot.call.queuedMs > 0)
  parrot.call.release(160)
  parrot.call.speak(...vowel(300))
  await eventually('the SDK has asked for what was cut off', () =>
    parrot.call.sent.some(({ type }) => type === 'conversation.item.retrieved'),
  )
  assert.deepEqual(errors, [])
  session.close()
})
