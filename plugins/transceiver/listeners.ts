/**
 * Who hears a call's events beside its own client, and speaks like it: sidebands. They hear what the data channel carries,
 * whether there is one or not, and why the call ends.
 */

import { EdgeError, type JsonObject } from '../../core/index.ts'
import { PacketBudget } from './packet-budget.ts'
import { endedEvent, toErrorEvent } from './session-events.ts'
import { callNotFound } from './signaling/call-service.ts'
import type { CallListeners, EventListener, JoinedCall } from './signaling/reached-call.ts'

/** How many may listen to one call. */
export const MAX_LISTENERS = 8

/** The listeners of one call. */
export class Listeners implements CallListeners {
  readonly #all = new Set<EventListener>()
  readonly #send: JoinedCall['send']
  readonly #budget = new PacketBudget()
  #over = false

  /** `send` takes what they say. */
  constructor(send: (event: JsonObject, characters: number) => void) {
    this.#send = send
  }

  join(listener: EventListener): JoinedCall {
    if (this.#over) throw callNotFound()
    if (this.#all.size >= MAX_LISTENERS) {
      throw new EdgeError('rate_limited', `A call has ${MAX_LISTENERS} sidebands at most.`)
    }
    this.#all.add(listener)
    return { send: this.#send, budget: this.#budget, leave: () => void this.#all.delete(listener) }
  }

  /** An event's JSON text, for everybody. */
  tell(text: string): void {
    for (const listener of this.#all) listener.onEvent(text)
  }

  /** The call ends: everybody hears why, as its client does, and nothing after it. Idempotent. */
  end(reason: string, fault: EdgeError | undefined): void {
    this.#over = true
    if (this.#all.size === 0) return
    if (fault) this.tell(JSON.stringify(toErrorEvent(fault)))
    this.tell(JSON.stringify(endedEvent(reason)))
    const all = [...this.#all]
    this.#all.clear()
    for (const listener of all) listener.onEnd(reason, fault !== undefined)
  }
}
