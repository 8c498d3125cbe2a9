/** An open connection to a backend: JSON events both ways, signs of life, and an end with a reason. */

import type { RawData, WebSocket } from 'ws'
import { EdgeError, type JsonObject, type JsonValue } from '../../../core/index.ts'
import { isObject } from './pure/json.ts'

/** How much may wait in the socket until whoever sends waits as well: half a second of audio in base64. */
const MAX_UNSENT_BYTES = 32_768
/** How long the closing handshake may take. */
const CLOSE_MS = 1000

/** Whom a link tells. */
export interface LinkHandlers {
  /** An event of the backend's. What it throws ends the link. */
  onEvent(event: JsonObject): void
  /** The link ends; no event comes any more. Called once. */
  onOver(): void
}

/** One connection. It is read from `start` on. */
export class Link {
  /** Resolves when the socket is closed; to the fault that closed it, or to undefined after an orderly end. */
  readonly closed: Promise<EdgeError | undefined>
  readonly #socket: WebSocket
  readonly #idleTimeoutMs: number
  readonly #handlers: LinkHandlers
  readonly #closed = Promise.withResolvers<EdgeError | undefined>()
  #heartbeat: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  #paused = false
  /** How many heartbeats in a row heard nothing. */
  #silent = 0
  #over = false
  #fault: EdgeError | undefined

  constructor(socket: WebSocket, idleTimeoutMs: number, handlers: LinkHandlers) {
    this.#socket = socket
    this.#idleTimeoutMs = idleTimeoutMs
    this.#handlers = handlers
    this.closed = this.#closed.promise
  }

  /** Begins to read. */
  start(): void {
    this.#socket
      .on('message', (data) => this.#onMessage(data))
      .on('pong', () => {
        this.#silent = 0
      })
      .on('error', (cause) => this.end(brokenOff(cause)))
      .on('close', (code) => this.#onClose(code))
    this.#heartbeat = setInterval(() => this.#beat(), this.#idleTimeoutMs / 2)
    this.#socket.resume()
  }

  /** Sends a text. Resolves, when too much waits already, as soon as it has left or never can. */
  send(text: string): Promise<void> | undefined {
    if (this.#over) return undefined
    if (this.#socket.bufferedAmount < MAX_UNSENT_BYTES) {
      this.#socket.send(text)
      return undefined
    }
    return new Promise((resolve) => {
      this.#socket.send(text, () => resolve())
    })
  }

  /** Whether the backend is not read just now. */
  get paused(): boolean {
    return this.#paused
  }

  /** Reads no further until `resume`: what the backend sends waits with it. */
  pause(): void {
    this.#paused = true
    this.#socket.pause()
  }

  /** Reads on. */
  resume(): void {
    this.#paused = false
    this.#socket.resume()
  }

  /** Says and hears nothing any more; with a fault the backend is told that something went wrong. Idempotent. */
  end(fault?: EdgeError): void {
    if (this.#over) return
    this.#fault = fault
    this.#finish()
    this.resume()
    this.#closing = setTimeout(() => this.#socket.terminate(), CLOSE_MS)
    this.#socket.close(fault ? 1011 : 1000)
  }

  #finish(): void {
    this.#over = true
    clearInterval(this.#heartbeat)
    this.#handlers.onOver()
  }

  #onMessage(data: RawData): void {
    if (this.#over || !Buffer.isBuffer(data)) return
    this.#silent = 0
    try {
      // As OpenAI's own clients do: a binary message is read as text.
      this.#handlers.onEvent(readEvent(data.toString()))
    } catch (cause) {
      this.end(cause instanceof EdgeError ? cause : brokenOff(cause))
    }
  }

  #beat(): void {
    // Nothing is heard of a socket that is not read.
    if (this.#paused) return
    if (this.#silent >= 2) this.end(new EdgeError('bridge_timeout', 'The backend gave no sign of life.'))
    else {
      this.#silent++
      this.#socket.ping()
    }
  }

  #onClose(code: number): void {
    clearTimeout(this.#closing)
    if (!this.#over) {
      if (code !== 1000 && code !== 1005)
        this.#fault = new EdgeError('bridge_failed', `The backend closed the connection with code ${code}.`)
      this.#finish()
    }
    this.#closed.resolve(this.#fault)
  }
}

/** An error for whatever broke a conversation off. */
export function brokenOff(cause: unknown): EdgeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new EdgeError('bridge_failed', `The conversation with the backend broke off: ${why}.`, { cause })
}

function readEvent(text: string): JsonObject {
  const event = parse(text)
  if (isObject(event) && typeof event.type === 'string') return event
  throw new EdgeError(
    'bridge_failed',
    'The backend sent a message that is no event: no JSON object with a type.',
  )
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
