/**
 * The responses whose audio has not all been heard, or is still to come: which of them has begun to sound, which has
 * ended, and how much of an item was played when one is interrupted. Pure.
 */

import type { JsonObject, Played } from '../../../../core/index.ts'
import { AudioPart, tagOf } from './audio-part.ts'
import { numberAt, objectAt, stringAt } from './json.ts'

/** So many are kept; a backend that ends none of its responses costs no more. */
export const MAX_RESPONSES = 64

interface Response {
  readonly id: string
  /** It becomes part of the conversation: not made with `conversation: 'none'`. */
  readonly conversational: boolean
  readonly parts: Map<string, AudioPart>
  generating: boolean
  started: boolean
  /** All that came so far has been played. */
  drained: boolean
  interrupted: boolean
  /** What is still to come is not played; what is queued is. */
  muted: boolean
}

/** Where an item was cut. */
export interface Cut {
  readonly itemId: string
  readonly contentIndex: number
  readonly audioEndMs: number
}

/** What an interruption found. */
export interface Interrupted {
  readonly id: string
  /** The backend has not said that it is done. */
  readonly generating: boolean
  readonly conversational: boolean
  /** Audio had come. */
  readonly audible: boolean
  /** Some of it has left. */
  readonly begun: boolean
  /** The items that were not heard to their end, but begun. */
  readonly cuts: readonly Cut[]
}

/** The responses of one conversation. */
export class Responses {
  readonly #rate: number
  readonly #responses = new Map<string, Response>()
  /** Those that are over, the newest, and whether they were interrupted: a backend may say more of one all the same. */
  readonly #past = new Map<string, boolean>()

  /** `rate` is that of the audio, in samples a second. */
  constructor(rate: number) {
    this.#rate = rate
  }

  /** Whether there is anything to interrupt. */
  get current(): boolean {
    return this.#responses.values().some(({ interrupted }) => !interrupted)
  }

  /** `response.created`. */
  created(event: JsonObject): void {
    const response = objectAt(event, 'response')
    const id = stringAt(response, 'id')
    this.#past.delete(id)
    if (id !== '') this.#open(id, response.conversation_id !== null)
  }

  /** `response.output_audio.delta`: its samples and their tag; undefined for what nobody is to hear any more. */
  delta(event: JsonObject): { data: Uint8Array; tag: string } | undefined {
    const id = stringAt(event, 'response_id')
    const interrupted = this.#past.get(id)
    if (interrupted === true) return undefined
    const response = this.#responses.get(id) ?? this.#open(id, true, interrupted === undefined)
    if (response.interrupted || response.muted) return undefined
    const tag = tagOf(event)
    let part = response.parts.get(tag)
    if (!part) {
      part = new AudioPart(stringAt(event, 'item_id'), numberAt(event, 'content_index'))
      response.parts.set(tag, part)
    }
    const data = part.decode(stringAt(event, 'delta'))
    if (!data) return undefined
    response.drained = false
    return { data, tag }
  }

  /** `response.output_audio.done`. */
  audioDone(event: JsonObject): void {
    const part = this.#responses.get(stringAt(event, 'response_id'))?.parts.get(tagOf(event))
    if (part) part.done = true
  }

  /** `response.done`: the id of a response that has been heard to its end by now. */
  done(event: JsonObject): string[] {
    const id = stringAt(objectAt(event, 'response'), 'id')
    const response = this.#responses.get(id)
    if (!response) return []
    response.generating = false
    for (const part of response.parts.values()) part.done = true
    if (response.interrupted || !isAudible(response)) this.#forget(response)
    else if (response.drained) return this.#stop(response)
    return []
  }

  /** A tag has begun to sound: the response that thereby has, and those that thereby have stopped. */
  started(tag: string): { started: string | undefined; stopped: string[] } {
    let stopped: string[] = []
    for (const response of this.#responses.values()) {
      if (!response.parts.has(tag)) {
        if (response.started && !response.generating) stopped = stopped.concat(this.#stop(response))
        continue
      }
      if (response.started || response.interrupted) return { started: undefined, stopped }
      response.started = true
      return { started: response.id, stopped }
    }
    return { started: undefined, stopped: [] }
  }

  /** All that was queued has left: the responses that have stopped. */
  drained(): string[] {
    const stopped: string[] = []
    for (const response of this.#responses.values()) {
      response.drained = response.started
      if (response.drained && !response.generating) stopped.push(...this.#stop(response))
    }
    return stopped
  }

  /** What the responses under way still bring is not to be heard. */
  mute(): void {
    for (const response of this.#responses.values()) response.muted = response.generating
  }

  /** Everything queued was dropped: what that cut, given how much of each tag had been played. */
  interrupt(played: readonly Played[]): Interrupted[] {
    const found: Interrupted[] = []
    const playedMs = new Map(played.map((one) => [one.tag, one.playedMs]))
    for (const response of this.#responses.values()) {
      if (response.interrupted) continue
      const { id, generating, conversational } = response
      found.push({
        id,
        generating,
        conversational,
        audible: isAudible(response),
        begun: response.parts.keys().some((tag) => (playedMs.get(tag) ?? 0) > 0),
        cuts: this.#cuts(response, playedMs),
      })
      response.interrupted = true
      if (!generating) this.#forget(response)
    }
    return found
  }

  #cuts(response: Response, playedMs: ReadonlyMap<string, number>): Cut[] {
    const cuts: Cut[] = []
    for (const [tag, part] of response.parts) {
      const received = part.receivedMs(this.#rate)
      const played = Math.min(playedMs.get(tag) ?? 0, received)
      const audioEndMs = Math.floor(played)
      // A backend refuses to cut at 0, and has nothing to cut where all was heard.
      if (audioEndMs === 0 || (part.done && played === received)) continue
      cuts.push({ itemId: part.itemId, contentIndex: part.contentIndex, audioEndMs })
    }
    return cuts
  }

  #open(id: string, conversational: boolean, generating = true): Response {
    const known = this.#responses.get(id)
    if (known) return known
    if (this.#responses.size >= MAX_RESPONSES) deleteOldest(this.#responses)
    const response: Response = {
      id,
      conversational,
      parts: new Map(),
      generating,
      started: false,
      drained: false,
      interrupted: false,
      muted: false,
    }
    this.#responses.set(id, response)
    return response
  }

  #stop(response: Response): string[] {
    this.#forget(response)
    return [response.id]
  }

  #forget({ id, interrupted }: Response): void {
    this.#responses.delete(id)
    if (this.#past.size >= MAX_RESPONSES) deleteOldest(this.#past)
    this.#past.set(id, interrupted)
  }
}

function deleteOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

function isAudible({ parts }: Response): boolean {
  return parts.values().some((part) => part.receivedMs(1) > 0)
}
