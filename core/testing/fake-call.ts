/** A call without a caller: tests push what a caller would say and look at what the bridge did. */

import type {
  AudioFormat,
  AudioFrame,
  BridgeCall,
  JsonObject,
  Played,
} from '../contracts/inference-bridge.ts'

/** What a fake call is made with. */
export interface FakeCallOptions {
  readonly id?: string
  readonly model?: string
  readonly session?: JsonObject
  /** `play` waits for room from here on. Default 200. */
  readonly roomMs?: number
  /** True: nothing leaves until `release`. Default false: what is played has left at once. */
  readonly hold?: boolean
  /** Rejects every `play` with this. */
  readonly refuse?: Error
}

/** Implements the call's side of the bridge contract, and notes every breach of the bridge's side. */
export class FakeCall implements BridgeCall {
  readonly id: string
  readonly traceSession = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
  readonly model?: string
  readonly session?: JsonObject
  readonly caller = { name: 'anonymous' }
  readonly signal: AbortSignal
  readonly audio: AsyncIterable<AudioFrame>
  readonly events: AsyncIterable<JsonObject>
  /** What the bridge played and sent, in order. */
  readonly played: AudioFrame[] = []
  readonly sent: JsonObject[] = []
  /** Why the bridge ended the call. */
  endedBy: string | undefined
  /** What the bridge did that the contract forbids. */
  readonly breaches: string[] = []
  readonly #format: AudioFormat
  readonly #options: FakeCallOptions
  readonly #controller = new AbortController()
  readonly #audio: Source<AudioFrame>
  readonly #events: Source<JsonObject>
  readonly #tags = new Map<string, number>()
  #queue: { readonly durationMs: number; readonly tag: string | undefined }[] = []
  #room: PromiseWithResolvers<void> | undefined
  #hold: boolean
  #deaf = false

  constructor(format: AudioFormat, options: FakeCallOptions = {}) {
    this.id = options.id ?? 'rtc_test'
    if (options.model !== undefined) this.model = options.model
    if (options.session !== undefined) this.session = options.session
    this.#format = format
    this.#options = options
    this.#hold = options.hold ?? false
    this.signal = this.#controller.signal
    this.#audio = new Source(() => this.breaches.push('read the audio twice'))
    this.#events = new Source(() => this.breaches.push('read the events twice'))
    this.audio = this.#audio
    this.events = this.#events
  }

  /** Frames and events that the bridge has not read yet. */
  get unread(): number {
    return this.#audio.waiting + this.#events.waiting
  }

  get queuedMs(): number {
    return this.#queue.reduce((sum, { durationMs }) => sum + durationMs, 0)
  }

  /** The caller speaks. */
  speak(...frames: AudioFrame[]): void {
    for (const frame of frames) this.#audio.push(frame)
  }

  /** The client sends an event. */
  say(...events: JsonObject[]): void {
    for (const event of events) this.#events.push(event)
  }

  /** Everything queued leaves, and from now on at once. */
  release(): void {
    this.#hold = false
    for (const { tag, durationMs } of this.#queue) this.#leave(tag, durationMs)
    this.#queue = []
    this.#makeRoom()
  }

  /** The call ends. What the bridge still does in this turn of the event loop is not held against it. */
  close(): void {
    this.#controller.abort(new DOMException('The call has ended.', 'AbortError'))
    this.#audio.end()
    this.#events.end()
    this.#queue = []
    this.#makeRoom()
    setImmediate(() => {
      this.#deaf = true
    })
  }

  send(event: JsonObject): void {
    this.#notice('sent an event')
    this.sent.push(event)
  }

  play(frame: AudioFrame, tag?: string): Promise<void> {
    this.#notice('played a frame')
    if (this.#options.refuse) return Promise.reject(this.#options.refuse)
    if (this.signal.aborted) return Promise.resolve()
    this.#inspect(frame)
    this.played.push(frame)
    if (tag !== undefined && !this.#tags.has(tag)) this.#tags.set(tag, 0)
    if (!this.#hold) {
      this.#leave(tag, frame.durationMs)
      return Promise.resolve()
    }
    this.#queue.push({ durationMs: frame.durationMs, tag })
    if (this.queuedMs < (this.#options.roomMs ?? 200)) return Promise.resolve()
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  flush(): Played[] {
    this.#notice('flushed')
    const played = [...this.#tags].map(([tag, playedMs]) => ({ tag, playedMs }))
    this.#tags.clear()
    this.#queue = []
    this.#makeRoom()
    return played
  }

  end(reason: string): void {
    this.#notice('ended the call')
    this.endedBy ??= reason
  }

  #leave(tag: string | undefined, durationMs: number): void {
    if (tag !== undefined) this.#tags.set(tag, (this.#tags.get(tag) ?? 0) + durationMs)
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  #notice(what: string): void {
    if (this.#deaf) this.breaches.push(`${what} after the call had ended`)
  }

  #inspect(frame: AudioFrame): void {
    const { data, durationMs } = frame
    if (data.length === 0) this.breaches.push('played an empty frame')
    if (this.#format === 'opus') return
    const lasts = (data.length * 500) / this.#format.pcm16
    if (data.length % 2 === 1) this.breaches.push(`played ${data.length} bytes of PCM16, which come in twos`)
    else if (lasts !== durationMs) this.breaches.push(`played ${lasts} ms of samples as ${durationMs} ms`)
  }
}

/** An iterable for one reader. */
class Source<T> implements AsyncIterable<T> {
  readonly #onSecondReader: () => void
  readonly #items: T[] = []
  #wake: (() => void) | undefined
  #ended = false
  #read = false

  constructor(onSecondReader: () => void) {
    this.#onSecondReader = onSecondReader
  }

  get waiting(): number {
    return this.#items.length
  }

  push(item: T): void {
    this.#items.push(item)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#items.length = 0
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    if (this.#read) this.#onSecondReader()
    this.#read = true
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#ended) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }
}
