/**
 * The scripted Realtime backend against OpenAI's own client: what our bridge is tested with is no dialect of ours. The
 * client insists on TLS and on knowing every event's shape; every event it gets must be one that its types have.
 */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type { RealtimeClientEvent, RealtimeServerEvent } from 'openai/resources/realtime/realtime'
import { selfSigned } from '../../core/index.ts'
import { Inbox } from '../peers/inbox.ts'
import { RealtimeBackend } from '../peers/realtime-backend.ts'
import type { BackendConversation } from '../peers/realtime-backend-conversation.ts'
import { tone } from '../peers/realtime-backend-response.ts'

const TURN = [
  'input_audio_buffer.speech_started',
  'input_audio_buffer.speech_stopped',
  'input_audio_buffer.committed',
  'conversation.item.added',
  'conversation.item.done',
  'conversation.item.input_audio_transcription.completed',
  'response.created',
  'response.output_item.added',
  'conversation.item.added',
  'response.content_part.added',
]
const END_OF_SPEECH = [
  'response.output_audio.done',
  'response.output_audio_transcript.done',
  'response.content_part.done',
  'conversation.item.done',
  'response.output_item.done',
  'response.done',
  'rate_limits.updated',
]

let backend: RealtimeBackend

/** The client, what it heard, and the conversation at the other end. */
class Session implements AsyncDisposable {
  readonly client: OpenAIRealtimeWS
  readonly heard = new Inbox<RealtimeServerEvent>('events')
  /** Every event that ever came. */
  readonly all: RealtimeServerEvent[] = []
  conversation!: BackendConversation

  private constructor() {
    const openai = new OpenAI({ apiKey: 'sk-test', baseURL: backend.url.replace('/realtime', '') })
    this.client = new OpenAIRealtimeWS(
      { model: 'gpt-realtime', options: { rejectUnauthorized: false } },
      openai,
    )
    this.client.on('event', (event) => {
      this.all.push(event)
      this.heard.push(event)
    })
    this.client.on('error', () => {})
  }

  static async open(): Promise<Session> {
    const session = new Session()
    session.conversation = await backend.conversations.take()
    const created = await session.next('session.created')
    assert.equal(created.session.type, 'realtime')
    return session
  }

  /** The next event, which must be of a type. */
  async next<T extends RealtimeServerEvent['type']>(
    type: T,
  ): Promise<Extract<RealtimeServerEvent, { type: T }>> {
    const event = await this.heard.take()
    assert.ok(isOf(event, type), `${event.type} came where ${type} was expected: ${JSON.stringify(event)}`)
    return event
  }

  /** The types of the next so many events. */
  async types(count: number): Promise<string[]> {
    return (await this.heard.takeMany(count)).map(({ type }) => type)
  }

  /** Waits for an event, whatever comes before. */
  async until<T extends RealtimeServerEvent['type']>(
    type: T,
  ): Promise<Extract<RealtimeServerEvent, { type: T }>> {
    const event = await this.heard.find((one) => one.type === type)
    assert.ok(isOf(event, type))
    return event
  }

  send(event: RealtimeClientEvent): void {
    this.client.send(event)
  }

  say(ms: number, hertz: number): void {
    const pcm = hertz === 0 ? Buffer.alloc(ms * 48) : tone(hertz, 0, ms)
    this.send({ type: 'input_audio_buffer.append', audio: pcm.toString('base64') })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.conversation.closed()
    this.client.close()
    await closed
  }
}

function isOf<T extends RealtimeServerEvent['type']>(
  event: RealtimeServerEvent,
  type: T,
): event is Extract<RealtimeServerEvent, { type: T }> {
  return event.type === type
}

describe('the scripted Realtime backend and the stock openai client', () => {
  before(async () => {
    const { certificate, privateKey } = selfSigned('backend', Date.now(), ['127.0.0.1'])
    const tls = { key: toPem('PRIVATE KEY', privateKey), cert: toPem('CERTIFICATE', certificate) }
    backend = await RealtimeBackend.start({
      tls,
      key: 'sk-test',
      answer: (n) => {
        if (n === 0) return { say: 'one two three four', ms: 400 }
        if (n === 1) return { call: 'get_weather', arguments: { city: 'Rome' } }
        return { say: 'one two three four', ms: 10_000, everyMs: 5 }
      },
    })
  })

  after(() => backend.close())

  it('hold a turn, call a tool, are interrupted, truncate, retrieve and delete', async () => {
    await using session = await Session.open()
    const transcription = { model: 'whisper-1' }
    session.send({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { transcription } } },
    })
    await session.next('session.updated')

    session.say(300, 440)
    session.say(600, 0)
    assert.deepEqual(await session.types(TURN.length), TURN)
    const spoken = await session.heard.takeMany(8)
    const audio = spoken.flatMap((event) =>
      event.type === 'response.output_audio.delta' ? Buffer.from(event.delta, 'base64') : [],
    )
    assert.equal(Buffer.concat(audio).length, 400 * 48)
    assert.deepEqual(await session.types(END_OF_SPEECH.length), END_OF_SPEECH)

    session.send({ type: 'response.create' })
    const call = await session.until('response.function_call_arguments.done')
    assert.deepEqual(JSON.parse(call.arguments), { city: 'Rome' })
    await session.until('rate_limits.updated')
    const item = { type: 'function_call_output' as const, call_id: call.call_id, output: 'Sunny.' }
    session.send({ type: 'conversation.item.create', item })
    await session.until('conversation.item.done')

    session.send({ type: 'response.create' })
    const { item_id } = await session.until('response.output_audio.delta')
    session.say(300, 440)
    await session.until('input_audio_buffer.speech_started')
    const { response } = await session.until('response.done')
    assert.equal(response.status, 'cancelled')
    session.send({ type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 100 })
    assert.equal((await session.until('conversation.item.truncated')).audio_end_ms, 100)
    session.send({ type: 'conversation.item.retrieve', item_id })
    const { item: cut } = await session.until('conversation.item.retrieved')
    assert.partialDeepStrictEqual(cut, { id: item_id, content: [{ type: 'output_audio', transcript: '' }] })
    session.send({ type: 'conversation.item.delete', item_id })
    assert.equal((await session.until('conversation.item.deleted')).item_id, item_id)
  })

  const refused: [string, RealtimeClientEvent, RegExp][] = [
    [
      'a truncation past the audio',
      { type: 'conversation.item.truncate', item_id: 'item_x', content_index: 0, audio_end_ms: 1 },
      /No such item/,
    ],
    ['an empty commit', { type: 'input_audio_buffer.commit' }, /committing/],
    ['a cancellation of nothing', { type: 'response.cancel' }, /no active response/],
    ['an item that is not there', { type: 'conversation.item.retrieve', item_id: 'item_x' }, /No such item/],
  ]
  for (const [what, event, message] of refused) {
    it(`refuse ${what}, and name the event`, async () => {
      await using session = await Session.open()
      session.send({ ...event, event_id: 'event_mine' })
      const { error } = await session.next('error')
      assert.match(error.message, message)
      assert.equal(error.event_id, 'event_mine')
    })
  }

  it('send no event that the client’s types do not have, and none without an id', async () => {
    const types = readFileSync('node_modules/openai/resources/realtime/realtime.d.ts', 'utf8')
    await using session = await Session.open()
    session.send({ type: 'response.create' })
    await session.until('response.output_audio.delta')
    session.send({ type: 'response.cancel' })
    await session.until('response.done')
    assert.ok(session.all.length > 10)
    for (const event of session.all) {
      assert.ok(types.includes(`type: '${event.type}';`), event.type)
      assert.match('event_id' in event ? String(event.event_id) : '', /^event_/)
    }
  })
})

function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
