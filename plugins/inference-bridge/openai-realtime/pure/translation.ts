/**
 * One conversation between a WebRTC client and a WebSocket backend of the Realtime family: which event of either side,
 * and of the playout, becomes what for the other (README.md has the table). It decides, and does nothing. Pure.
 */

import type { JsonObject, Played, PlayoutEvent } from '../../../../core/index.ts'
import type { Action, Interrupter } from './actions.ts'
import { Beta } from './beta.ts'
import type { Capabilities } from './capabilities.ts'
import { passClientEvent } from './client-events.ts'
import { Greeting } from './greeting.ts'
import { Items, withoutAudio } from './items.ts'
import { numberAt, objectAt, stringAt } from './json.ts'
import { bufferEvent, cancelEvent, truncateEvent } from './notices.ts'
import { type Interrupted, Responses } from './responses.ts'
import { firstSession, interruptsIn } from './session-config.ts'
import { Truncations } from './truncations.ts'
import type { World } from './world.ts'

/** So many of our own requests are remembered, to know their errors by. */
const MAX_OWN = 64

/** What a translation is told. */
export interface TranslationOptions {
  readonly can: Capabilities
  /** Of the audio, in samples a second. */
  readonly rate: number
  /** What the operator and the client want of the session, in GA's words. */
  readonly session: JsonObject
  readonly world: World
}

/** The state of one conversation. Each method takes one thing that happened and gives what is to be done, in order. */
export class Translation {
  readonly #o: TranslationOptions
  readonly #beta: Beta | undefined
  readonly #greeting: Greeting
  readonly #responses: Responses
  readonly #items = new Items()
  readonly #truncations = new Truncations()
  /** Requests that a client knows nothing of: neither is it to hear that they were refused. */
  readonly #own = new Set<string>()
  #interrupts = true
  #flushedBy: Interrupter = 'client'

  constructor(options: TranslationOptions) {
    const { can, rate, session, world } = options
    this.#o = options
    this.#beta = can.dialect === 'beta' ? new Beta() : undefined
    this.#responses = new Responses(rate)
    const first = firstSession(session, can, rate)
    const needed = can.formats || Object.keys(first).length > 0
    const update = { type: 'session.update', event_id: world.eventId(), session: first }
    this.#greeting = new Greeting(needed ? update : undefined)
  }

  /** Whether the backend may be sent anything: audio and the client's events. */
  get ready(): boolean {
    return this.#greeting.ready
  }

  /** An event of the backend's. Throws EdgeError `bridge_failed` for one that cannot be. */
  fromBackend(event: JsonObject): Action[] {
    const events = this.#beta?.toGa(event, () => this.#o.world.eventId()) ?? [event]
    return events.flatMap((one) => {
      const { events: greeted, update } = this.#greeting.take(one)
      const actions = greeted.flatMap((ready) => this.#onBackend(ready))
      return update ? [this.#ask(update), ...actions] : actions
    })
  }

  /** The backend does not acknowledge its first session, or will say nothing more: what waits for that goes on. */
  release(): Action[] {
    return this.#greeting.release().flatMap((event) => this.#onBackend(event))
  }

  /** An event of the client's; not before `ready`. */
  fromClient(event: JsonObject): Action[] {
    const { can, rate, world } = this.#o
    const shared = { can, rate, world, items: this.#items, truncations: this.#truncations }
    const passage = passClientEvent(event, shared)
    switch (passage.to) {
      case 'backend':
        this.#interrupts = interruptsIn(objectAt(passage.event, 'session')) ?? this.#interrupts
        return [this.#ask(passage.event, passage.whenHeard)]
      case 'client':
        return [{ do: 'tell', event: passage.event }]
      case 'player':
        return this.#flush('client')
      case 'responses':
        this.#responses.mute()
        return []
      default:
        return []
    }
  }

  /** What the playout did. A drain counts only while nothing is queued: say no other. */
  fromPlayout(event: PlayoutEvent): Action[] {
    if (event.type === 'drained') return this.#buffer('stopped', this.#responses.drained())
    if (event.tag === undefined) return []
    const { started, stopped } = this.#responses.started(event.tag)
    return [
      ...this.#buffer('stopped', stopped),
      ...this.#buffer('started', started === undefined ? [] : [started]),
    ]
  }

  /** What the flush that was asked for found. */
  flushed(played: readonly Played[]): Action[] {
    const by = this.#flushedBy
    return this.#responses.interrupt(played).flatMap((found) => this.#interrupted(found, by))
  }

  #onBackend(event: JsonObject): Action[] {
    const told: Action = { do: 'tell', event }
    if (!this.#o.can.retrieve) this.#items.note(event)
    switch (event.type) {
      case 'session.created':
      case 'session.updated':
        this.#interrupts = interruptsIn(objectAt(event, 'session')) ?? this.#interrupts
        return [told]
      case 'response.created':
        this.#responses.created(event)
        return [told]
      case 'response.output_audio.delta':
        return this.#play(event)
      case 'response.output_audio.done':
        this.#responses.audioDone(event)
        return [told]
      case 'response.done':
        return [told, ...this.#buffer('stopped', this.#responses.done(event))]
      case 'input_audio_buffer.speech_started':
        return this.#interrupts ? [told, ...this.#flush('speech')] : [told]
      case 'conversation.item.retrieved':
        return [{ do: 'tell', event: { ...event, item: withoutAudio(objectAt(event, 'item')) } }]
      case 'error':
        return this.#own.delete(stringAt(objectAt(event, 'error'), 'event_id')) ? [] : [told]
      case 'output_audio_buffer.started':
      case 'output_audio_buffer.stopped':
      case 'output_audio_buffer.cleared':
        // Whoever says so plays nothing to this caller.
        return []
      default:
        return [told]
    }
  }

  #play(event: JsonObject): Action[] {
    const audio = this.#responses.delta(event)
    if (!audio) return []
    const ms = (audio.data.length * 500) / this.#o.rate
    this.#truncations.received(stringAt(event, 'item_id'), numberAt(event, 'content_index'), ms)
    return [{ do: 'play', ...audio }]
  }

  #flush(by: Interrupter): Action[] {
    if (!this.#responses.current) return []
    this.#flushedBy = by
    return [{ do: 'flush', by }]
  }

  #interrupted(found: Interrupted, by: Interrupter): Action[] {
    const { can } = this.#o
    const actions: Action[] = []
    // A backend whose own ears interrupted it stops by itself; one that nobody has heard yet is told all the same.
    const cancel = by === 'client' || (!found.begun && found.conversational)
    if (can.cancel && found.generating && cancel)
      actions.push(this.#ask(cancelEvent(found.id, this.#ownId())))
    if (can.truncate && found.conversational) {
      for (const cut of found.cuts) {
        this.#truncations.cut(cut.itemId, cut.contentIndex, cut.audioEndMs)
        actions.push(this.#ask(truncateEvent(cut, this.#ownId())))
      }
    }
    const heard = found.audible || by === 'client'
    return [...actions, ...this.#buffer('cleared', heard ? [found.id] : [])]
  }

  #buffer(what: 'started' | 'stopped' | 'cleared', ids: readonly string[]): Action[] {
    return ids.map((id) => ({ do: 'tell', event: bufferEvent(what, id, this.#o.world.eventId()) }))
  }

  #ask(event: JsonObject, whenHeard = false): Action {
    const said = this.#beta?.toBeta(event) ?? event
    return { do: whenHeard ? 'ask-when-heard' : 'ask', event: said }
  }

  #ownId(): string {
    const id = this.#o.world.eventId()
    if (this.#own.size >= MAX_OWN) {
      for (const oldest of this.#own) {
        this.#own.delete(oldest)
        break
      }
    }
    this.#own.add(id)
    return id
  }
}
