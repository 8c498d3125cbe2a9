/** One call of the http-turns bridge: listens, asks the backend after each turn, and plays its answer. */

import { type AudioFrame, type BridgeCall, EdgeError } from 'earshot'

/** The plugin's options, as far as a call needs them. */
export interface TurnsOptions {
  readonly url: string
  readonly key?: string
  readonly pauseMs: number
}

const BYTES_PER_MS = 32
const FRAME = 20 * BYTES_PER_MS
/** Samples louder than this are speech; a real bridge asks a model. */
const LOUD = 500

/** A conversation. `run` it once. */
export class Turns {
  readonly #call: BridgeCall
  readonly #options: TurnsOptions
  readonly #onAnswer: () => void
  readonly #failed = Promise.withResolvers<never>()
  #turn: Uint8Array[] = []
  #quietMs = 0
  #answer = new AbortController()

  constructor(call: BridgeCall, options: TurnsOptions, onAnswer: () => void) {
    this.#call = call
    this.#options = options
    this.#onAnswer = onAnswer
  }

  /** Resolves when the call has ended; rejects when the backend failed, which ends the call. */
  async run(): Promise<void> {
    try {
      await Promise.race([Promise.all([this.#listen(), this.#obey()]), this.#failed.promise])
    } finally {
      this.#answer.abort()
    }
  }

  async #listen(): Promise<void> {
    for await (const frame of this.#call.audio) {
      if (isLoud(frame)) {
        if (this.#turn.length === 0) this.#interrupt()
        this.#quietMs = 0
      } else this.#quietMs += frame.durationMs
      if (this.#quietMs === 0 || this.#turn.length > 0) this.#turn.push(frame.data)
      if (this.#turn.length > 0 && this.#quietMs >= this.#options.pauseMs) this.#ask()
    }
  }

  /** Clients send events too; this bridge knows one. */
  async #obey(): Promise<void> {
    for await (const event of this.#call.events) {
      if (event.type === 'response.cancel') this.#interrupt()
    }
  }

  /** Barge-in: nothing more of the answer is played, and the client hears how much of it was. */
  #interrupt(): void {
    this.#answer.abort()
    for (const { tag, playedMs } of this.#call.flush()) {
      this.#call.send({ type: 'answer.interrupted', answer: tag, played_ms: playedMs })
    }
  }

  #ask(): void {
    const turn = Buffer.concat(this.#turn)
    this.#turn = []
    this.#answer = new AbortController()
    const { signal } = this.#answer
    this.#request(turn, signal).catch((cause: unknown) => {
      if (!signal.aborted) this.#failed.reject(asEdgeError(cause))
    })
  }

  async #request(turn: Buffer<ArrayBuffer>, signal: AbortSignal): Promise<void> {
    const { url, key } = this.#options
    const headers = new Headers(key === undefined ? [] : [['authorization', `Bearer ${key}`]])
    const response = await fetch(url, { method: 'POST', body: turn, headers, signal })
    if (!response.ok) throw new EdgeError('bridge_failed', `The backend answered with ${response.status}.`)
    this.#onAnswer()
    const answer = crypto.randomUUID()
    this.#call.send({ type: 'answer.started', answer })
    const samples = new Uint8Array(await response.arrayBuffer())
    for (let at = 0; at < samples.length && !signal.aborted; at += FRAME) {
      const data = samples.subarray(at, at + FRAME)
      await this.#call.play({ data, durationMs: data.length / BYTES_PER_MS }, answer)
    }
  }
}

function isLoud({ data }: AudioFrame): boolean {
  const samples = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 0; at + 1 < data.length; at += 2) {
    if (Math.abs(samples.getInt16(at, true)) > LOUD) return true
  }
  return false
}

function asEdgeError(cause: unknown): EdgeError {
  if (cause instanceof EdgeError) return cause
  return new EdgeError('bridge_failed', 'The backend cannot be reached.', { cause })
}
