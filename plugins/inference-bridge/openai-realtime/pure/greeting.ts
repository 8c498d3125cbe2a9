/**
 * The beginning of a conversation. The client's first event is `session.created`, with the session as it is once the
 * operator's and the client's config have been applied: what the backend says before that waits. Pure.
 */

import { EdgeError, type JsonObject } from '../../../../core/index.ts'
import { objectAt } from './json.ts'

/** So many of the backend's events wait at most. */
export const MAX_HELD = 64

/** What came of an event. */
export interface Greeted {
  /** What may go on, in order. */
  readonly events: readonly JsonObject[]
  /** The backend is there: it is to be asked this, and may then be asked anything. */
  readonly update?: JsonObject
}

/** One conversation's beginning. */
export class Greeting {
  readonly #update: JsonObject | undefined
  #held: JsonObject[] = []
  #created: JsonObject | undefined
  #over = false

  /** `update` is the `session.update` to begin with, if any. */
  constructor(update: JsonObject | undefined) {
    this.#update = update
  }

  /** Whether the backend has said `session.created`. */
  get ready(): boolean {
    return this.#created !== undefined
  }

  /** Takes each of the backend's events. Throws EdgeError `bridge_failed` for a backend that never begins. */
  take(event: JsonObject): Greeted {
    if (this.#over) return { events: [event] }
    if (this.#created) return { events: this.#configuring(this.#created, event) }
    if (event.type === 'error') return { events: [event] }
    if (event.type !== 'session.created') {
      if (this.#held.push(event) > MAX_HELD)
        throw new EdgeError('bridge_failed', `The backend sent ${MAX_HELD} events and no session.created.`)
      return { events: [] }
    }
    this.#created = event
    return this.#update ? { events: [], update: this.#update } : { events: this.#end(event) }
  }

  /** The backend takes too long to acknowledge, or never will: what waits goes on. */
  release(): readonly JsonObject[] {
    return this.#over || !this.#created ? [] : this.#end(this.#created)
  }

  #configuring(created: JsonObject, event: JsonObject): readonly JsonObject[] {
    if (event.type === 'session.updated')
      return this.#end({ ...created, session: objectAt(event, 'session') })
    const full = this.#held.push(event) > MAX_HELD
    const refused =
      event.type === 'error' && objectAt(event, 'error').event_id === (this.#update?.event_id ?? null)
    return full || refused ? this.#end(created) : []
  }

  #end(created: JsonObject): readonly JsonObject[] {
    const events = [created, ...this.#held]
    this.#over = true
    this.#held = []
    return events
  }
}
