/**
 * One call's conversation with its backend over an open socket. Neither side can make the other's bytes pile up:
 * a backend that sends too far ahead is not read, and the caller's audio is not taken from the call while the
 * backend does not read, so that the call drops the oldest.
 */

import type { RawData, WebSocket } from 'ws'
import { type BridgeCall, EdgeError } from '../../../core/index.ts'
import { audioCleared, callStart, isReserved, readText, refusal } from './protocol.ts'

/** How much unsent audio may wait in the socket, in milliseconds. */
const MAX_UNSENT_MS = 500
/** An idle backend is asked for a sign of life this often, and is gone without one by the next time. */
const HEARTBEAT_MS = 15_000
/** How long the closing handshake may take. */
const CLOSE_MS = 1000

/** What a conversation is told. */
export interface ConversationOptions {
  readonly rate: number
  readonly readAheadMs: number
  /** Default HEARTBEAT_MS. */
  readonly heartbeatMs?: number
}

/** Listens from its making on; `run` resolves when it is over and the socket is closed. */
export class Conversation {
  readonly #socket: WebSocket
  readonly #call: BridgeCall
  readonly #o: ConversationOptions
  readonly #closed = Promise.withResolvers<void>()
  readonly #onAbort = (): void => this.#finish()
  #heartbeat: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  #tag: string | undefined
  #paused = false
  #alive = true
  #over = false
  #fault: EdgeError | undefined

  constructor(socket: WebSocket, call: BridgeCall, options: ConversationOptions) {
    this.#socket = socket
    this.#call = call
    this.#o = options
  }

  /** Holds the conversation. Rejects with EdgeError `bridge_failed` or `bridge_timeout` when it breaks off. */
  async run(): Promise<void> {
    const { signal } = this.#call
    this.#socket
      .on('message', (data, isBinary) => this.#onMessage(data, isBinary))
      .on('pong', () => {
        this.#alive = true
      })
      .on('error', (cause) => this.#fail(brokenOff(cause)))
      .on('close', (code) => this.#onClose(code))
    signal.addEventListener('abort', this.#onAbort)
    this.#heartbeat = setInterval(() => this.#beat(), this.#o.heartbeatMs ?? HEARTBEAT_MS)
    this.#socket.send(callStart(this.#call, this.#o.rate))
    this.#socket.resume()
    if (signal.aborted) this.#finish()
    for (const pump of [this.#sendAudio(), this.#sendEvents()])
      pump.catch((cause) => this.#fail(brokenOff(cause)))
    await this.#closed.promise
    signal.removeEventListener('abort', this.#onAbort)
    if (this.#fault) throw this.#fault
  }

  async #sendAudio(): Promise<void> {
    const most = (MAX_UNSENT_MS / 1000) * this.#o.rate * 2
    for await (const frame of this.#call.audio) {
      if (this.#over) return
      if (this.#socket.bufferedAmount < most) this.#socket.send(frame.data)
      else await this.#sent(frame.data)
    }
  }

  async #sendEvents(): Promise<void> {
    for await (const event of this.#call.events) {
      if (this.#over) return
      if (isReserved(event)) this.#call.send(refusal(event))
      else await this.#sent(JSON.stringify(event))
    }
  }

  /** Resolves when it has left for the kernel, or never can. */
  #sent(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.send(data, () => resolve())
    })
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#over || !Buffer.isBuffer(data)) return
    this.#alive = true
    try {
      if (isBinary) this.#onAudio(data)
      else this.#onText(data.toString())
    } catch (cause) {
      this.#fail(cause instanceof EdgeError ? cause : brokenOff(cause))
    }
  }

  #onAudio(data: Buffer): void {
    if (data.length % 2 === 1) {
      throw new EdgeError(
        'bridge_failed',
        `The backend sent ${data.length} bytes of PCM16, which come in twos.`,
      )
    }
    const room = this.#call.play({ data, durationMs: (data.length * 500) / this.#o.rate }, this.#tag)
    const pause = !this.#paused && this.#call.queuedMs > this.#o.readAheadMs
    if (pause) {
      this.#paused = true
      this.#socket.pause()
    }
    room.then(
      () => {
        if (pause) this.#resume()
      },
      (cause: unknown) => this.#fail(cause instanceof EdgeError ? cause : brokenOff(cause)),
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
        this.#socket.send(audioCleared(this.#call.flush()))
        break
      case 'end':
        this.#call.end(message.reason)
        this.#finish()
    }
  }

  #resume(): void {
    this.#paused = false
    this.#socket.resume()
  }

  #beat(): void {
    // Nothing is heard of a socket that is not read.
    if (this.#paused) return
    if (!this.#alive) this.#fail(new EdgeError('bridge_timeout', 'The backend gave no sign of life.'))
    this.#alive = false
    this.#socket.ping()
  }

  #onClose(code: number): void {
    clearInterval(this.#heartbeat)
    clearTimeout(this.#closing)
    const orderly = code === 1000 || code === 1005
    if (!this.#over && !orderly) {
      this.#fault = new EdgeError('bridge_failed', `The backend closed the connection with code ${code}.`)
    }
    this.#over = true
    this.#closed.resolve()
  }

  #fail(fault: EdgeError): void {
    if (this.#over) return
    this.#fault = fault
    this.#finish()
  }

  /** Says and hears nothing any more; `run` goes on when the socket is closed. */
  #finish(): void {
    if (this.#over) return
    this.#over = true
    clearInterval(this.#heartbeat)
    this.#resume()
    this.#closing = setTimeout(() => this.#socket.terminate(), CLOSE_MS)
    this.#socket.close(this.#fault ? 1011 : 1000)
  }
}

function brokenOff(cause: unknown): EdgeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new EdgeError('bridge_failed', `The conversation with the backend broke off: ${why}.`, { cause })
}
