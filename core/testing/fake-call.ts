/** A call without a caller: tests push what a caller would say and look at what the bridge did. */

import type {
  AudioFormat,
  AudioFrame,
  BridgeCall,
  JsonObject,
  Played,
  PlayoutEvent,
} from '../contracts/inference-bridge.ts'
import { FakePlayout } from './fake-playout.ts'
import { FakeSource } from './fake-source.ts'

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
  readonly playout: AsyncIterable<PlayoutEvent>
  /** What the bridge played and sent, in order. */
  readonly played: AudioFrame[] = []
  readonly sent: JsonObject[] = []
  /** What each flush found. */
  readonly flushes: Played[][] = []
  /** What was answered to each `heard`. */
  readonly hearings: Promise<void>[] = []
  /** Why the bridge ended the call. */
  endedBy: string | undefined
  /** What the bridge did that the contract forbids. */
  readonly breaches: string[] = []
  readonly #format: AudioFormat
  readonly #options: FakeCallOptions
  readonly #controller = new AbortController()
  readonly #audio: FakeSource<AudioFrame>
  readonly #events: FakeSource<JsonObject>
  readonly #playout: FakeSource<PlayoutEvent>
  readonly #queue: FakePlayout
  #deaf = false

  constructor(format: AudioFormat, options: FakeCallOptions = {}) {
    this.id = options.id ?? 'rtc_test'
    if (options.model !== undefined) this.model = options.model
    if (options.session !== undefined) this.session = options.session
    this.#format = format
    this.#options = options
    this.signal = this.#controller.signal
    this.#audio = new FakeSource(() => this.breaches.push('read the audio twice'))
    this.#events = new FakeSource(() => this.breaches.push('read the events twice'))
    this.#playout = new FakeSource(() => this.breaches.push('read the playout twice'))
    this.#queue = new FakePlayout(options.roomMs ?? 200, options.hold ?? false, (event) =>
      this.#playout.push(event),
    )
    this.audio = this.#audio
    this.events = this.#events
    this.playout = this.#playout
  }

  /** Frames and events that the bridge has not read yet. */
  get unread(): number {
    return this.#audio.unread + this.#events.unread
  }

  get queuedMs(): number {
    return this.#queue.queuedMs
  }

  /** The caller speaks. */
  speak(...frames: AudioFrame[]): void {
    for (const frame of frames) this.#audio.push(frame)
  }

  /** The client sends an event. */
  say(...events: JsonObject[]): void {
    for (const event of events) this.#events.push(event)
  }

  /** So many milliseconds of what is queued leave; without a number everything, and from now on at once. */
  release(ms?: number): void {
    this.#queue.release(ms)
  }

  /** The call ends. What the bridge still does in this turn of the event loop is not held against it. */
  close(): void {
    this.#controller.abort(new DOMException('The call has ended.', 'AbortError'))
    this.#audio.end()
    this.#events.end()
    this.#playout.end()
    this.#queue.flush()
    setImmediate(() => {
      this.#deaf = true
    })
  }

  send(event: JsonObject): void {
    this.#notice('sent an event')
    // As a call does, which throws for what cannot be written.
    JSON.stringify(event)
    this.sent.push(event)
  }

  play(frame: AudioFrame, tag?: string): Promise<void> {
    this.#notice('played a frame')
    if (this.#options.refuse) return Promise.reject(this.#options.refuse)
    if (this.signal.aborted) return Promise.resolve()
    this.#inspect(frame)
    this.played.push(frame)
    return this.#queue.push(frame.durationMs, tag)
  }

  flush(): Played[] {
    this.#notice('flushed')
    const played = this.#queue.flush()
    this.flushes.push(played)
    return played
  }

  heard(): Promise<void> {
    this.#notice('asked what was heard')
    const heard = this.#audio.allRead()
    this.hearings.push(heard)
    return heard
  }

  end(reason: string): void {
    this.#notice('ended the call')
    this.endedBy ??= reason
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
