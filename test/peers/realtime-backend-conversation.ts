/**
 * One connection of a scripted backend: it speaks OpenAI Realtime's GA interface as a server does, answers what the
 * script says, and keeps what came.
 */

import { once } from 'node:events'
import type { WebSocket } from 'ws'
import type { JsonObject } from '../../core/index.ts'
import { Inbox } from './inbox.ts'
import { BackendItems, type Refusal } from './realtime-backend-items.ts'
import { type Answer, BackendResponse } from './realtime-backend-response.ts'
import { at, isObject, newSession, updated } from './realtime-backend-session.ts'
import { LoudnessVad, type VadEvent } from './realtime-backend-vad.ts'

/** How a conversation goes. */
export interface Script {
  /** What it answers the n-th time; nothing when it gives undefined. Default: "All right." for a second. */
  answer?(n: number, conversation: BackendConversation): Answer | undefined
  /** What it takes the caller to have said. Default "Hello." */
  readonly heard?: string
  /** Loud for so long is speech. Default 60. */
  readonly speechMs?: number
  /** Do not greet: the test does. */
  readonly silent?: boolean
  /** Take no event either. */
  readonly deaf?: boolean
}

/** A connection. Its socket is for tests that misbehave. */
export class BackendConversation {
  readonly socket: WebSocket
  /** What the handshake asked for. */
  readonly url: URL
  readonly headers: Readonly<Record<string, unknown>>
  /** Every event that came, but for appended audio. */
  readonly received = new Inbox<JsonObject>('events at the backend')
  readonly receivedTypes: string[] = []
  readonly items = new BackendItems()
  readonly vad = new LoudnessVad()
  /** The errors it answered with. */
  readonly refused: Refusal[] = []
  /** Bytes of audio that came. */
  audioBytes = 0
  /** Of them, not committed. */
  bufferedBytes = 0
  session: JsonObject
  readonly #script: Script
  #response: BackendResponse | undefined
  #speechItem: string | undefined
  #answers = 0
  #ids = 0

  constructor(socket: WebSocket, url: URL, headers: Readonly<Record<string, unknown>>, script: Script) {
    this.socket = socket
    this.url = url
    this.headers = headers
    this.#script = script
    this.session = newSession(this.newId('sess'), url.searchParams.get('model') ?? '')
    socket.on('message', (data) => this.#onText(String(data)))
    socket.on('error', () => {})
    socket.on('close', () => this.#response?.close())
    if (!script.silent) this.greet()
  }

  /** Resolves, when the connection is closed, with the code. */
  async closed(): Promise<number> {
    if (this.socket.readyState === this.socket.CLOSED) return 0
    const [code] = await once(this.socket, 'close')
    return Number(code)
  }

  /** Says `session.created`. */
  greet(): void {
    this.emit({ type: 'session.created', session: this.session })
  }

  /** Sends an event, with an id of its own. */
  emit(event: JsonObject): void {
    this.socket.send(JSON.stringify({ event_id: this.newId('event'), ...event }))
  }

  /** A new id such as `item_0000001`. */
  newId(prefix: string): string {
    return `${prefix}_${String(++this.#ids).padStart(7, '0')}`
  }

  /** Answers, as after a turn. */
  respond(params: JsonObject = {}, answer = this.#nextAnswer()): void {
    if (!answer) return
    const response = new BackendResponse(
      {
        items: this.items,
        newId: (prefix) => this.newId(prefix),
        emit: (event) => this.emit(event),
        onDone: () => {
          if (this.#response === response) this.#response = undefined
        },
      },
      answer,
      params,
    )
    this.#response = response
    response.start()
  }

  /** What its ears tell it. */
  onVad({ type, atMs }: VadEvent): void {
    const turns = at(at(at(this.session, 'audio'), 'input'), 'turn_detection')
    if (type === 'started') {
      this.#speechItem = this.newId('item')
      const event = { type: 'input_audio_buffer.speech_started', audio_start_ms: atMs }
      this.emit({ ...event, item_id: this.#speechItem })
      if (turns.interrupt_response !== false) this.#response?.cancel('turn_detected')
      return
    }
    const id = this.#speechItem ?? this.newId('item')
    this.#speechItem = undefined
    this.emit({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: atMs, item_id: id })
    this.#commit(id)
    if (turns.create_response !== false) this.respond()
  }

  #nextAnswer(): Answer | undefined {
    const { answer = () => ({ say: 'All right.' }) } = this.#script
    return answer(this.#answers++, this)
  }

  #onText(text: string): void {
    if (this.#script.deaf) return
    const event: JsonObject = JSON.parse(text)
    this.receivedTypes.push(String(event.type))
    if (event.type !== 'input_audio_buffer.append') this.received.push(event)
    const refusal = this.#onEvent(event)
    if (!refusal) return
    this.refused.push(refusal)
    const error = { type: 'invalid_request_error', param: null, event_id: event.event_id ?? null, ...refusal }
    this.emit({ type: 'error', error })
  }

  #onEvent(event: JsonObject): Refusal | undefined {
    switch (event.type) {
      case 'session.update':
        return this.#update(event)
      case 'input_audio_buffer.append':
        return this.#append(Buffer.from(String(event.audio), 'base64'))
      case 'input_audio_buffer.commit':
        // OpenAI's words, and its least: 100 ms.
        if (this.bufferedBytes < 4800)
          return { code: 'input_audio_buffer_commit_empty', message: 'Error committing input audio buffer.' }
        this.#commit(this.newId('item'))
        return undefined
      case 'input_audio_buffer.clear':
        this.bufferedBytes = 0
        this.vad.reset()
        this.emit({ type: 'input_audio_buffer.cleared' })
        return undefined
      case 'response.create':
        if (this.#response && at(event, 'response').conversation !== 'none')
          return { code: 'conversation_already_has_active_response', message: 'One is in progress.' }
        this.respond(at(event, 'response'))
        return undefined
      case 'response.cancel':
        if (!this.#response)
          return {
            code: 'response_cancel_not_active',
            message: 'Cancellation failed: no active response found',
          }
        this.#response.cancel('client_cancelled')
        return undefined
      default:
        return this.#onItemEvent(event)
    }
  }

  #onItemEvent(event: JsonObject): Refusal | undefined {
    switch (event.type) {
      case 'conversation.item.create':
        this.#add(isObject(event.item) ? event.item : {}, String(at(event, 'item').id ?? this.newId('item')))
        return undefined
      case 'conversation.item.retrieve': {
        const found = this.items.get(event.item_id)
        if (!found)
          return { code: 'item_retrieve_invalid_item_id', message: 'No such item.', param: 'item_id' }
        this.emit({ type: 'conversation.item.retrieved', item: found.item })
        return undefined
      }
      case 'conversation.item.delete':
        if (!this.items.delete(event.item_id))
          return { code: 'item_delete_invalid_item_id', message: 'No such item.', param: 'item_id' }
        this.emit({ type: 'conversation.item.deleted', item_id: event.item_id ?? null })
        return undefined
      case 'conversation.item.truncate': {
        const refusal = this.items.truncate(event)
        const { item_id = null, content_index = null, audio_end_ms = null } = event
        if (!refusal) this.emit({ type: 'conversation.item.truncated', item_id, content_index, audio_end_ms })
        return refusal
      }
      default:
        return { code: 'invalid_value', message: `Invalid value: '${String(event.type)}'.`, param: 'type' }
    }
  }

  #update(event: JsonObject): Refusal | undefined {
    const after = updated(this.session, event.session)
    if ('code' in after && 'message' in after) {
      return { code: String(after.code), message: String(after.message), param: String(after.param) }
    }
    this.session = { ...this.session, ...after }
    this.emit({ type: 'session.updated', session: this.session })
    return undefined
  }

  #append(pcm: Buffer): undefined {
    this.audioBytes += pcm.length
    this.bufferedBytes += pcm.length
    const turns = at(at(this.session, 'audio'), 'input').turn_detection
    if (!isObject(turns)) return
    const silenceMs = Number(turns.silence_duration_ms ?? 500)
    const events = this.vad.push(pcm, { speechMs: this.#script.speechMs ?? 60, silenceMs })
    for (const event of events) this.onVad(event)
  }

  #commit(id: string): void {
    this.bufferedBytes = 0
    this.emit({ type: 'input_audio_buffer.committed', previous_item_id: this.items.last, item_id: id })
    const { heard = 'Hello.' } = this.#script
    const transcribes = isObject(at(at(this.session, 'audio'), 'input').transcription)
    const content = [{ type: 'input_audio', transcript: null }]
    this.#add({ type: 'message', status: 'completed', role: 'user', content }, id)
    if (!transcribes) return
    const item = this.items.get(id)
    if (item) item.item = { ...item.item, content: [{ type: 'input_audio', transcript: heard }] }
    const usage = { type: 'duration', seconds: 1 }
    const type = 'conversation.item.input_audio_transcription.completed'
    this.emit({ type, item_id: id, content_index: 0, transcript: heard, usage })
  }

  #add(item: JsonObject, id: string): void {
    const previous = this.items.last
    const { item: added } = this.items.add({ status: 'completed', ...item }, id)
    this.emit({ type: 'conversation.item.added', previous_item_id: previous, item: added })
    this.emit({ type: 'conversation.item.done', previous_item_id: previous, item: added })
  }
}
