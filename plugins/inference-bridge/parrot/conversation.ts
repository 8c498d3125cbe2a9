/**
 * One call with the parrot. It speaks OpenAI Realtime's events, as far as it has something to say, so that clients of
 * that show its turns and interruptions without knowing it.
 */

import { type BridgeCall, isJsonObject, type JsonObject } from '../../../core/index.ts'
import { answerItem, Items } from './items.ts'
import type { ParrotOptions } from './options.ts'
import { refusal } from './refusal.ts'
import { type TurnEvent, TurnTaker } from './turn-taker.ts'
import { Typing } from './typing.ts'
import { RATE, STEP_BYTES, type VoiceDetector } from './voice-detector.ts'

const BYTES_PER_MS = (RATE / 1000) * 2
/** What is played at a time. */
const FRAME_BYTES = 20 * BYTES_PER_MS

/** Characters of a session: all of it is told at each change, which a caller may make many of, each with more in it. */
const MOST_OF_A_SESSION = 65_536

/** What the parrot counts, over all calls. */
export interface ParrotCounters {
  onAnswer(): void
  onInterruption(): void
}

interface Answer {
  readonly response: string
  readonly item: string
  readonly ended: AbortController
}

/** A conversation. `run` it once. */
export class Conversation {
  readonly #call: BridgeCall
  readonly #voice: VoiceDetector
  readonly #turns: TurnTaker
  readonly #counters: ParrotCounters
  readonly #failed = Promise.withResolvers<never>()
  readonly #items = new Items()
  readonly #typing = new Typing(this.#items)
  #rest: Buffer = Buffer.alloc(0)
  #answer: Answer | undefined
  /** The answer that was begun last, also when it is over. */
  #latest: Pick<Answer, 'response' | 'item'> = { response: '', item: '' }
  /** The caller's turn. */
  #said = ''
  #session: JsonObject
  #responses = 0
  #events = 0

  constructor(call: BridgeCall, options: ParrotOptions, voice: VoiceDetector, counters: ParrotCounters) {
    this.#call = call
    this.#voice = voice
    this.#turns = new TurnTaker(options.pauseMs)
    this.#counters = counters
    this.#session = { type: 'realtime', object: 'realtime.session', model: 'parrot', ...call.session }
  }

  /** Resolves when the call has ended; rejects when what is played is refused. */
  async run(): Promise<void> {
    try {
      this.#send({ type: 'session.created', session: this.#session })
      await Promise.race([Promise.all([this.#listen(), this.#obey(), this.#tell()]), this.#failed.promise])
    } finally {
      this.#answer?.ended.abort()
      this.#voice.close()
    }
  }

  async #listen(): Promise<void> {
    for await (const { data } of this.#call.audio) {
      const sound = Buffer.concat([this.#rest, data])
      let at = 0
      for (; at + STEP_BYTES <= sound.length; at += STEP_BYTES) {
        const step = sound.subarray(at, at + STEP_BYTES)
        this.#take(this.#turns.step(step, this.#voice.hears(step)))
      }
      this.#rest = sound.subarray(at)
    }
  }

  async #obey(): Promise<void> {
    for await (const event of this.#call.events) await this.#follow(event)
  }

  async #follow(event: JsonObject): Promise<void> {
    switch (event.type) {
      case 'session.update':
        return this.#update(event)
      case 'response.cancel':
      case 'output_audio_buffer.clear':
        return this.#interrupt()
      case 'input_audio_buffer.clear':
        this.#turns.forget()
        return this.#send({ type: 'input_audio_buffer.cleared' })
      case 'input_audio_buffer.commit':
        await this.#call.heard()
        return this.#take(this.#turns.end())
      case 'conversation.item.create':
        return this.#sendAll(this.#typing.take(event))
      case 'conversation.item.retrieve':
        return this.#retrieve(event)
      case 'response.create':
        return this.#write()
      case 'telephone_event':
        return undefined
      default:
        return this.#send(refusal(event, 'unknown_event', 'type'))
    }
  }

  #update(event: JsonObject): void {
    const session = { ...this.#session, ...(isJsonObject(event.session) ? event.session : {}) }
    const fits = JSON.stringify(session).length <= MOST_OF_A_SESSION
    if (fits) this.#session = session
    this.#send(fits ? { type: 'session.updated', session } : refusal(event, 'session_too_large', 'session'))
  }

  #retrieve(event: JsonObject): void {
    const item = this.#items.get(event.item_id)
    const told = item && { type: 'conversation.item.retrieved', item }
    this.#send(told ?? refusal(event, 'item_not_found', 'item_id'))
  }

  /** While the parrot speaks and nothing was typed, what it says is the answer that is asked for. */
  #write(): void {
    if (this.#typing.isUnanswered) this.#counters.onAnswer()
    else if (this.#isSpeaking) return
    this.#sendAll(this.#typing.answer(this.#newResponse()))
  }

  /** Tells the client when the answer is heard and when it is over. */
  async #tell(): Promise<void> {
    let speaking: string | undefined
    for await (const event of this.#call.playout) {
      if (event.type === 'started') {
        speaking = event.tag
        this.#tellOfAudio('started', speaking)
      } else if (speaking !== undefined && this.#answer === undefined) {
        this.#tellOfAudio('stopped', speaking)
        speaking = undefined
      }
    }
  }

  #tellOfAudio(what: 'started' | 'stopped' | 'cleared', response: string | undefined): void {
    this.#send({ type: `output_audio_buffer.${what}`, response_id: response ?? null })
  }

  #take(event: TurnEvent | undefined): void {
    if (event === undefined) return
    if (event.type === 'started') {
      this.#said = this.#items.newId()
      this.#send({
        type: 'input_audio_buffer.speech_started',
        audio_start_ms: event.atMs,
        item_id: this.#said,
      })
      this.#interrupt()
    } else {
      const item = { item_id: this.#said }
      this.#send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: event.atMs, ...item })
      this.#send({ type: 'input_audio_buffer.committed', ...item })
      this.#say(event.turn).catch((cause: unknown) => this.#failed.reject(cause))
    }
  }

  get #isSpeaking(): boolean {
    return this.#answer !== undefined || this.#call.queuedMs > 0
  }

  #newResponse(): string {
    return `resp_${++this.#responses}`
  }

  /** Barge-in: the parrot falls silent at once, and says how far it came. */
  #interrupt(): void {
    if (!this.#isSpeaking) return
    this.#answer?.ended.abort()
    this.#answer = undefined
    this.#counters.onInterruption()
    const { response, item } = this.#latest
    // What has been said to its end is in the list too, and nothing of it was cut off.
    const playedMs = this.#call.flush().find(({ tag }) => tag === response)?.playedMs ?? 0
    this.#tellOfAudio('cleared', response)
    if (playedMs < 1) return
    this.#send({
      type: 'conversation.item.truncated',
      item_id: item,
      content_index: 0,
      audio_end_ms: Math.floor(playedMs),
    })
  }

  async #say(turn: readonly Buffer[]): Promise<void> {
    const sound = Buffer.concat(turn)
    const answer = this.#begin()
    const { signal } = answer.ended
    for (let at = 0; at < sound.length && !signal.aborted && !this.#call.signal.aborted; at += FRAME_BYTES) {
      const data = sound.subarray(at, at + FRAME_BYTES)
      await this.#call.play({ data, durationMs: data.length / BYTES_PER_MS }, answer.response)
    }
    if (this.#answer === answer) this.#answer = undefined
    const { response, item: id } = answer
    const item = answerItem(id, signal.aborted ? 'incomplete' : 'completed', [{ type: 'output_audio' }])
    this.#items.change(item)
    this.#send({ type: 'response.output_item.done', response_id: response, output_index: 0, item })
    const status = signal.aborted ? 'cancelled' : 'completed'
    this.#send({ type: 'response.done', response: { id: response, status } })
  }

  #begin(): Answer {
    const response = this.#newResponse()
    const answer = { response, item: this.#items.newId(), ended: new AbortController() }
    this.#answer = answer
    this.#latest = answer
    this.#counters.onAnswer()
    this.#send({ type: 'response.created', response: { id: response, status: 'in_progress' } })
    const item = answerItem(answer.item, 'in_progress', [])
    this.#items.add(item)
    this.#send({ type: 'response.output_item.added', response_id: response, output_index: 0, item })
    return answer
  }

  #sendAll(events: Iterable<JsonObject>): void {
    for (const event of events) this.#send(event)
  }

  #send(event: JsonObject): void {
    if (!this.#call.signal.aborted) this.#call.send({ event_id: `event_${++this.#events}`, ...event })
  }
}
