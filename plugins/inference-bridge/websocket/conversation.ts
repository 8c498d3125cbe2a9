/**
 * One call's conversation with its backend over an open socket. Neither side can make the other's bytes pile up:
 * a backend that sends too far ahead is not read, and the caller's audio is not taken from the call while the
 * backend does not read, so that the call drops the oldest.
 */

import type { WebSocket } from 'ws'
import { BackendLink, type BridgeCall, EdgeError } from '../../../core/index.ts'
import { audioCleared, callStart, isReserved, readText, refusal } from './protocol.ts'

/** How much unsent audio may wait in the socket, in milliseconds. */
const MAX_UNSENT_MS = 500
/** A backend that sends nothing for so long, not even a pong, or half as long again, is gone. */
const IDLE_TIMEOUT_MS = 20_000

/** What a conversation is told. */
export interface ConversationOptions {
  readonly rate: number
  readonly readAheadMs: number
  /** Default IDLE_TIMEOUT_MS. */
  readonly idleTimeoutMs?: number
}

/** A conversation, from `run` to the end of call or connection. */
export class Conversation {
  readonly #call: BridgeCall
  readonly #o: ConversationOptions
  readonly #link: BackendLink
  #tag: string | undefined

  constructor(socket: WebSocket, call: BridgeCall, options: ConversationOptions) {
    this.#call = call
    this.#o = options
    const { rate, idleTimeoutMs = IDLE_TIMEOUT_MS } = options
    const patience = { idleTimeoutMs, maxUnsentBytes: (MAX_UNSENT_MS / 1000) * rate * 2 }
    this.#link = new BackendLink(socket, patience, {
      onMessage: (data, isBinary) => (isBinary ? this.#onAudio(data) : this.#onText(data.toString())),
    })
  }

  /** Holds the conversation. Rejects with EdgeError `bridge_failed` or `bridge_timeout` when it breaks off. */
  async run(): Promise<void> {
    void this.#link.send(callStart(this.#call, this.#o.rate))
    await this.#link.hold(this.#call.signal, [this.#sendAudio(), this.#sendEvents()])
  }

  async #sendAudio(): Promise<void> {
    for await (const frame of this.#call.audio) {
      if (this.#link.isOver) return
      await this.#link.send(frame.data)
    }
  }

  async #sendEvents(): Promise<void> {
    for await (const event of this.#call.events) {
      if (this.#link.isOver) return
      if (isReserved(event)) this.#call.send(refusal(event))
      else await this.#link.send(JSON.stringify(event))
    }
  }

  #onAudio(data: Buffer): void {
    if (data.length % 2 === 1) {
      const message = `The backend sent ${data.length} bytes of PCM16, which come in twos.`
      throw new EdgeError('bridge_failed', message)
    }
    const room = this.#call.play({ data, durationMs: (data.length * 500) / this.#o.rate }, this.#tag)
    const isAhead = !this.#link.paused && this.#call.queuedMs > this.#o.readAheadMs
    if (isAhead) this.#link.pause()
    room.then(
      () => {
        if (isAhead) this.#link.resume()
      },
      (cause: unknown) => this.#link.fail(cause),
    )
  }

  #onText(text: string): void {
    const message = readText(text)
    switch (message.kind) {
      case 'event':
        this.#call.send(message.event)
        break
      case 'tag':
        this.#tag = message.tag
        break
      case 'clear':
        this.#tag = undefined
        void this.#link.send(audioCleared(this.#call.flush()))
        break
      case 'end':
        this.#call.end(message.reason)
        this.#link.end()
    }
  }
}
