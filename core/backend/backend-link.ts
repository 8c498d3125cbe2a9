/**
 * An open WebSocket to a backend: messages both ways, signs of life, and an end with a reason. Neither side can make the
 * other's bytes pile up: who sends is told to wait, and who is ahead is not read.
 */

import type { RawData, WebSocket } from 'ws'
import { EdgeError } from '../errors.ts'

/** How long the closing handshake may take. */
const CLOSE_MS = 1000

/**
 * How much more may wait than what senders wait for, in bytes: large events, and answers that nobody waits to give. Beyond
 * it the backend asks and does not read.
 */
const MAX_ANSWERS = 1_048_576

/** How patient a link is. */
export interface BackendLinkOptions {
  /** A backend that for so long sends nothing, not even a pong, or half as long again, is lost. */
  readonly idleTimeoutMs: number
  /** How much may wait in the socket until whoever sends waits as well. */
  readonly maxUnsentBytes: number
}

/** Whom a link tells. */
export interface BackendLinkHandlers {
  /** A message of the backend's, whose bytes may be kept. What it throws ends the link. */
  onMessage(data: Buffer, isBinary: boolean): void
  /** The link ends; no message comes any more. Called once. */
  onOver?(): void
}

/** One connection. It is read from `hold` on. */
export class BackendLink {
  readonly #socket: WebSocket
  readonly #o: BackendLinkOptions
  readonly #handlers: BackendLinkHandlers
  readonly #closed = Promise.withResolvers<void>()
  #heartbeat: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  #paused = false
  /** How many heartbeats in a row heard nothing. */
  #silent = 0
  #over = false
  #fault: EdgeError | undefined

  /** Takes over an open, paused socket, as `connectWebSocket` gives it. */
  constructor(socket: WebSocket, options: BackendLinkOptions, handlers: BackendLinkHandlers) {
    this.#socket = socket
    this.#o = options
    this.#handlers = handlers
  }

  /**
   * Reads until the socket is closed, by whichever side. Ends the link when `signal` aborts, and fails it when one of the
   * pumps rejects: what is sent meanwhile. Resolves after an orderly end; rejects with EdgeError `bridge_failed` or
   * `bridge_timeout`.
   */
  async hold(signal: AbortSignal, pumps: readonly Promise<void>[]): Promise<void> {
    const onAbort = (): void => this.end()
    signal.addEventListener('abort', onAbort)
    for (const pump of pumps) pump.catch((cause: unknown) => this.fail(cause))
    this.#start()
    if (signal.aborted) this.end()
    await this.#closed.promise
    signal.removeEventListener('abort', onAbort)
    if (this.#fault) throw this.#fault
  }

  /**
   * Sends a text, or bytes as a binary message. Returns a promise when too much waits already: it resolves as soon as this
   * has left or never can. Where so much waits that nobody can have waited, the link fails with `bridge_failed`.
   */
  send(data: string | Uint8Array): Promise<void> | undefined {
    if (this.#over) return undefined
    const excess = this.#socket.bufferedAmount - this.#o.maxUnsentBytes
    if (excess > MAX_ANSWERS) {
      this.end(new EdgeError('bridge_failed', 'The backend does not read what it is sent.'))
      return undefined
    }
    if (excess < 0) {
      this.#socket.send(data)
      return undefined
    }
    return new Promise((resolve) => {
      this.#socket.send(data, () => resolve())
    })
  }

  /** Whether it has ended: nothing is said or heard any more, though the socket may still be closing. */
  get isOver(): boolean {
    return this.#over
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

  /** Ends with whatever went wrong: what is no EdgeError becomes the cause of a `bridge_failed`. */
  fail(cause: unknown): void {
    this.end(cause instanceof EdgeError ? cause : brokenOff(cause))
  }

  #start(): void {
    this.#socket
      .on('message', (data, isBinary) => this.#onMessage(data, isBinary))
      .on('pong', () => {
        this.#silent = 0
      })
      .on('error', (cause) => this.fail(cause))
      .on('close', (code) => this.#onClose(code))
    if (!this.#over) this.#heartbeat = setInterval(() => this.#beat(), this.#o.idleTimeoutMs / 2)
    this.#socket.resume()
  }

  #finish(): void {
    this.#over = true
    clearInterval(this.#heartbeat)
    this.#handlers.onOver?.()
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    if (this.#over || !Buffer.isBuffer(data)) return
    this.#silent = 0
    try {
      this.#handlers.onMessage(data, isBinary)
    } catch (cause) {
      this.fail(cause)
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
    this.#closed.resolve()
  }
}

function brokenOff(cause: unknown): EdgeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new EdgeError('bridge_failed', `The conversation with the backend broke off: ${why}.`, { cause })
}
