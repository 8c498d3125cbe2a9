/**
 * The end of a call that somebody wished for: why, and what the client is still to hear of it. It is over when all of
 * that has been acknowledged, or after a while: what is only sent may be lost, and clients drop it when close_notify
 * comes on its heels. Time is an input.
 */

import type { EdgeError } from '../../core/index.ts'
import { endedEvent, toErrorEvent } from './session-events.ts'

/** How long the last events may take until they have left, the channel's opening included. */
export const FAREWELL_MS = 3000

/** How long their acknowledgement may take from then on: one that is gone sends none, and one that is there notices soon. */
export const ACKNOWLEDGED_WITHIN_MS = 700

/** The part of an event channel that a farewell uses. */
export interface FarewellChannel {
  send(text: string): boolean
  /** Something has not left yet. */
  readonly queued: boolean
  /** Something has not been acknowledged yet. */
  readonly waiting: boolean
}

/** One call's farewell. */
export class Farewell {
  readonly reason: string
  readonly fault: EdgeError | undefined
  readonly #words: string[]
  #until = Number.POSITIVE_INFINITY
  #said = false

  /** `unsent` are events' texts that go before; undefined where there will be no channel to say anything on. */
  constructor(reason: string, fault: EdgeError | undefined, unsent: readonly string[] | undefined) {
    this.reason = reason
    this.fault = fault
    this.#words = unsent
      ? [...unsent, ...(fault ? [toErrorEvent(fault)] : []), endedEvent(reason)].map(toText)
      : []
  }

  /** The client is connected: it has FAREWELL_MS from now. */
  begin(now: number): this {
    this.#until = now + FAREWELL_MS
    return this
  }

  /** Says what the channel takes; true when that was anything. */
  say(channel: FarewellChannel | undefined): boolean {
    const before = this.#words.length
    while (this.#words.length > 0 && channel?.send(this.#words[0]!)) this.#words.shift()
    return this.#words.length < before
  }

  /** Whether all has been acknowledged, or time is up. */
  isOver(now: number, channel: FarewellChannel | undefined): boolean {
    if (!this.#said && this.#words.length === 0 && !channel?.queued) {
      this.#said = true
      this.#until = Math.min(this.#until, now + ACKNOWLEDGED_WITHIN_MS)
    }
    return (this.#said && !channel?.waiting) || now >= this.#until
  }
}

function toText(word: string | object): string {
  return typeof word === 'string' ? word : JSON.stringify(word)
}
