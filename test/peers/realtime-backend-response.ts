/** One response of a scripted backend, event by event as the GA interface has it. */

import type { JsonObject } from '../../core/index.ts'
import type { BackendItem, BackendItems } from './realtime-backend-items.ts'

/** What a backend answers. */
export type Answer =
  | {
      readonly say: string
      /** How long that takes to say. Default 1000. */
      readonly ms?: number
      /** From `response.content_part.added` to the first delta. Default 0. */
      readonly thinkMs?: number
      /** Of audio in a delta. Default 100. */
      readonly chunkMs?: number
      /** Between deltas; 0 sends all within one turn of the event loop. Default 0. */
      readonly everyMs?: number
      /** The tone it is said in. Default 440. */
      readonly hertz?: number
    }
  | { readonly call: string; readonly arguments: JsonObject }

/** What a response stands on. */
export interface ResponseHost {
  readonly items: BackendItems
  newId(prefix: string): string
  emit(event: JsonObject): void
  onDone(): void
}

const RATE = 24_000

/** A response from `start` to `response.done`. */
export class BackendResponse {
  readonly id: string
  readonly #host: ResponseHost
  readonly #answer: Answer
  readonly #params: JsonObject
  #item: BackendItem | undefined
  #sentMs = 0
  #timer: NodeJS.Timeout | undefined
  #over = false

  constructor(host: ResponseHost, answer: Answer, params: JsonObject) {
    this.id = host.newId('resp')
    this.#host = host
    this.#answer = answer
    this.#params = params
  }

  /** Begins; what is not spoken is over at once. */
  start(): void {
    this.#host.emit({ type: 'response.created', response: this.#response('in_progress', null, []) })
    const answer = this.#answer
    if ('say' in answer) {
      this.#beginToSpeak(answer.ms ?? 1000)
      if (answer.thinkMs) this.#timer = setTimeout(() => this.#speak(), answer.thinkMs)
      else this.#speak()
    } else this.#call(answer.call, JSON.stringify(answer.arguments))
  }

  /** Stops it. */
  cancel(reason: 'client_cancelled' | 'turn_detected'): void {
    this.#finish('cancelled', { type: 'cancelled', reason })
  }

  /** The connection is gone. */
  close(): void {
    this.#over = true
    clearTimeout(this.#timer)
  }

  #beginToSpeak(wholeMs: number): void {
    const host = this.#host
    const previous = host.items.last
    const item = { type: 'message', status: 'in_progress', role: 'assistant', content: [] }
    this.#item = host.items.add(item, host.newId('item'))
    this.#item.wholeMs = wholeMs
    host.emit({ type: 'response.output_item.added', ...this.#place(), item: this.#item.item })
    host.emit({ type: 'conversation.item.added', previous_item_id: previous, item: this.#item.item })
    host.emit({
      type: 'response.content_part.added',
      ...this.#partPlace(),
      part: { type: 'audio', transcript: '' },
    })
  }

  #speak(): void {
    if (this.#over || !('say' in this.#answer)) return
    const { ms = 1000, chunkMs = 100, everyMs = 0 } = this.#answer
    do {
      this.#speakChunk(Math.min(chunkMs, ms - this.#sentMs))
      if (this.#sentMs >= ms) {
        this.#finish('completed', null)
        return
      }
    } while (everyMs === 0)
    this.#timer = setTimeout(() => this.#speak(), everyMs)
  }

  #speakChunk(ms: number): void {
    const answer = this.#answer
    const item = this.#item
    if (!item || !('say' in answer)) return
    const words = answer.say.split(' ')
    const before = Math.floor((words.length * this.#sentMs) / item.wholeMs)
    const pcm = tone(answer.hertz ?? 440, this.#sentMs, ms)
    this.#sentMs += ms
    const after = Math.floor((words.length * this.#sentMs) / item.wholeMs)
    item.audioMs = this.#sentMs
    item.transcript = words.slice(0, after).join(' ')
    if (after > before) {
      const delta = (before > 0 ? ' ' : '') + words.slice(before, after).join(' ')
      this.#host.emit({ type: 'response.output_audio_transcript.delta', ...this.#partPlace(), delta })
    }
    const delta = pcm.toString('base64')
    this.#host.emit({ type: 'response.output_audio.delta', ...this.#partPlace(), delta })
  }

  #call(name: string, args: string): void {
    const host = this.#host
    const previous = host.items.last
    const callId = host.newId('call')
    const item = { type: 'function_call', status: 'in_progress', call_id: callId, name, arguments: '' }
    this.#item = host.items.add(item, host.newId('item'))
    host.emit({ type: 'response.output_item.added', ...this.#place(), item: this.#item.item })
    host.emit({ type: 'conversation.item.added', previous_item_id: previous, item: this.#item.item })
    const place = { ...this.#place(), item_id: this.#item.id, call_id: callId }
    host.emit({ type: 'response.function_call_arguments.delta', ...place, delta: args })
    host.emit({ type: 'response.function_call_arguments.done', ...place, name, arguments: args })
    this.#item.item = { ...this.#item.item, arguments: args }
    this.#finish('completed', null)
  }

  #finish(status: 'completed' | 'cancelled', details: JsonObject | null): void {
    if (this.#over) return
    this.close()
    const host = this.#host
    const item = this.#item
    const output: JsonObject[] = []
    if (item) {
      if ('say' in this.#answer) this.#endSpeech(item)
      item.item = { ...item.item, status: status === 'completed' ? 'completed' : 'incomplete' }
      output.push(item.item)
      host.emit({ type: 'conversation.item.done', previous_item_id: null, item: item.item })
      host.emit({ type: 'response.output_item.done', ...this.#place(), item: item.item })
    }
    host.onDone()
    host.emit({ type: 'response.done', response: this.#response(status, details, output) })
    host.emit({
      type: 'rate_limits.updated',
      rate_limits: [{ name: 'tokens', limit: 40_000, remaining: 39_000, reset_seconds: 1.5 }],
    })
  }

  #endSpeech(item: BackendItem): void {
    const { transcript } = item
    const place = this.#partPlace()
    this.#host.emit({ type: 'response.output_audio.done', ...place })
    this.#host.emit({ type: 'response.output_audio_transcript.done', ...place, transcript })
    this.#host.emit({ type: 'response.content_part.done', ...place, part: { type: 'audio', transcript } })
    item.item = { ...item.item, content: [{ type: 'output_audio', transcript }] }
  }

  #place(): JsonObject {
    return { response_id: this.id, output_index: 0 }
  }

  #partPlace(): JsonObject {
    return { ...this.#place(), item_id: this.#item?.id ?? '', content_index: 0 }
  }

  #response(status: string, details: JsonObject | null, output: JsonObject[]): JsonObject {
    const outOfBand = this.#params.conversation === 'none'
    return {
      object: 'realtime.response',
      id: this.id,
      status,
      status_details: details,
      output,
      conversation_id: outOfBand ? null : 'conv_1',
      output_modalities: ['audio'],
      max_output_tokens: 'inf',
      audio: { output: { format: { type: 'audio/pcm', rate: RATE }, voice: 'marin' } },
      usage: status === 'in_progress' ? null : { total_tokens: 30, input_tokens: 20, output_tokens: 10 },
      metadata: null,
    }
  }
}

const tones = new Map<string, Buffer>()

/** So many milliseconds of a tone, from somewhere on its way. Not to be changed. */
export function tone(hertz: number, fromMs: number, ms: number): Buffer {
  const phase = ((hertz * fromMs) / 1000) % 1
  const name = `${hertz}/${phase}/${ms}`
  const made = tones.get(name) ?? makeTone(hertz, phase, ms)
  if (tones.size < 64) tones.set(name, made)
  return made
}

function makeTone(hertz: number, phase: number, ms: number): Buffer {
  const pcm = Buffer.alloc(((RATE * ms) / 1000) * 2)
  for (let n = 0; n * 2 < pcm.length; n++) {
    pcm.writeInt16LE(Math.round(9000 * Math.sin(2 * Math.PI * ((hertz * n) / RATE + phase))), n * 2)
  }
  return pcm
}
