/** One call's conversation with its backend over an open socket: the translation decides, this does. */

import { setTimeout as delay } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import { BackendLink, type BridgeCall, EdgeError, type JsonObject } from '../../../core/index.ts'
import type { Action, Interrupter } from './pure/actions.ts'
import { readEvent } from './pure/read-event.ts'
import { Translation, type TranslationOptions } from './pure/translation.ts'
import { Speaker } from './speaker.ts'
import type { Turns } from './turns.ts'
import { Uplink } from './uplink.ts'

/** How much may wait in the socket until whoever sends waits as well: half a second of audio in base64. */
const MAX_UNSENT_BYTES = 32_768
/** How often it is looked, at most, whether all has been played. */
const LOOK_MS = 20

/** What a conversation is told. */
export interface ConversationOptions extends TranslationOptions {
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly maxQueuedMs: number
  readonly turns: Turns
  onInterrupted(by: Interrupter): void
}

/** A conversation, from `run` to the end of call or connection. */
export class Conversation {
  readonly #call: BridgeCall
  readonly #o: ConversationOptions
  readonly #translation: Translation
  readonly #link: BackendLink
  readonly #uplink: Uplink
  readonly #speaker: Speaker
  readonly #ready = Promise.withResolvers<void>()
  #patience: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, call: BridgeCall, options: ConversationOptions) {
    this.#call = call
    this.#o = options
    this.#translation = new Translation(options)
    const { idleTimeoutMs } = options
    const patience = { idleTimeoutMs, maxUnsentBytes: MAX_UNSENT_BYTES }
    this.#link = new BackendLink(socket, patience, {
      // As OpenAI's own clients do: a binary message is read as text.
      onMessage: (data) => this.#onBackend(data.toString()),
      onOver: () => this.#onOver(),
    })
    this.#uplink = new Uplink(call, options.rate, (text) => this.#link.send(text))
    this.#speaker = new Speaker(call, this.#link, options, (cause) => this.#link.fail(cause))
  }

  /** Holds the conversation. Rejects with EdgeError `bridge_failed` or `bridge_timeout` when it breaks off. */
  async run(): Promise<void> {
    this.#patience = setTimeout(() => this.#onLate(), this.#o.connectTimeoutMs)
    const pumps = [this.#sendAudio(), this.#sendEvents(), this.#watchPlayout()]
    await this.#link.hold(this.#call.signal, pumps)
    await this.#playedOut()
  }

  async #sendAudio(): Promise<void> {
    await this.#ready.promise
    if (!this.#link.isOver) await this.#uplink.run()
  }

  async #sendEvents(): Promise<void> {
    for await (const event of this.#call.events) {
      await this.#ready.promise
      if (this.#link.isOver) return
      for (const action of this.#translation.fromClient(event)) await this.#do(action)
    }
  }

  async #watchPlayout(): Promise<void> {
    for await (const event of this.#call.playout) {
      // More may have been queued since it drained: then it drains again.
      if (event.type === 'drained' && this.#call.queuedMs > 0) continue
      this.#doAll(this.#translation.fromPlayout(event))
    }
  }

  /** A backend that hangs up has said goodbye: that is still to be heard. */
  async #playedOut(): Promise<void> {
    const { signal } = this.#call
    for (let ms = this.#call.queuedMs; ms > 0 && !signal.aborted; ms = this.#call.queuedMs)
      await delay(Math.max(LOOK_MS, ms), undefined, { signal }).catch(() => {})
  }

  #onBackend(text: string): void {
    const event = readEvent(text)
    this.#o.turns.note(event)
    this.#doAll(this.#translation.fromBackend(event))
    if (this.#translation.ready) this.#ready.resolve()
  }

  /** What cannot be done ends the conversation, whoever asks: a timer, too, or the end itself. */
  #doAll(actions: readonly Action[]): void {
    try {
      for (const action of actions) void this.#do(action)
    } catch (cause) {
      this.#link.fail(cause)
    }
  }

  /** Resolves, where that takes a while, when there is room for more. */
  #do(action: Action): Promise<void> | undefined {
    switch (action.do) {
      case 'tell':
        this.#call.send(action.event)
        return undefined
      case 'ask':
        return this.#link.send(JSON.stringify(action.event))
      case 'ask-when-heard':
        return this.#askWhenHeard(action.event)
      case 'play':
        this.#speaker.play(action.data, action.tag)
        return undefined
      case 'flush':
        this.#o.onInterrupted(action.by)
        this.#doAll(this.#translation.flushed(this.#speaker.flush()))
        return undefined
    }
  }

  async #askWhenHeard(event: JsonObject): Promise<void> {
    await this.#call.heard()
    if (this.#link.isOver) return
    this.#uplink.flush()
    await this.#link.send(JSON.stringify(event))
  }

  #onLate(): void {
    const took = `${this.#o.connectTimeoutMs} ms`
    if (this.#translation.ready) this.#doAll(this.#translation.release())
    else
      this.#link.end(new EdgeError('bridge_timeout', `The backend sent no session.created within ${took}.`))
  }

  #onOver(): void {
    clearTimeout(this.#patience)
    if (!this.#call.signal.aborted) this.#doAll(this.#translation.release())
    this.#speaker.close()
    this.#o.turns.close()
    this.#ready.resolve()
  }
}
