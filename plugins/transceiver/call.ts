/**
 * One call as its bridge sees it. A bridge that reads too slowly loses the oldest audio and the newest events,
 * never memory; a client whose events are lost is told.
 */

import type { AudioFrame, BridgeCall, JsonObject, Played, Principal } from '../../core/index.ts'
import { CallQueue } from './call-queue.ts'
import { Fifo } from './media/fifo.ts'

/** How much of the caller's audio waits for the bridge at most. */
export const MAX_AUDIO_MS = 2000
/** How many events wait at most, for the bridge and for the data channel each. */
export const MAX_EVENTS = 256

/** The part of a media session that a call passes on. */
export interface CallMedia {
  play(frame: AudioFrame, tag?: string): Promise<void>
  flush(): Played[]
  readonly queuedMs: number
}

/** What a call is made of. */
export interface CallOptions {
  readonly id: string
  readonly traceSession: Uint8Array
  readonly caller: Principal
  readonly model?: string
  readonly session?: JsonObject
  readonly media: CallMedia
  /** Sends on the data channel; false when it is not open, and the event is kept until `channelOpen`. */
  sendEvent(event: JsonObject): boolean
  /** The bridge wants the call to end. Called once at most. */
  onEnd(reason: string): void
}

/** What a slow bridge or a channel that never opened has cost. */
export interface CallCounters {
  droppedAudioMs: number
  /** From the client, unread by the bridge. */
  droppedEvents: number
  /** To the client, whose channel was not open. */
  unsentEvents: number
}

/** A call. The transceiver pushes, the bridge reads; `close` ends it. */
export class Call implements BridgeCall {
  readonly id: string
  readonly traceSession: Uint8Array
  readonly caller: Principal
  readonly model?: string
  readonly session?: JsonObject
  readonly signal: AbortSignal
  readonly audio: AsyncIterable<AudioFrame>
  readonly events: AsyncIterable<JsonObject>
  readonly counters: CallCounters = { droppedAudioMs: 0, droppedEvents: 0, unsentEvents: 0 }
  readonly #o: CallOptions
  readonly #controller = new AbortController()
  readonly #audio = new CallQueue<AudioFrame>('audio', (frame) => frame.durationMs)
  readonly #events = new CallQueue<JsonObject>('events', () => 1)
  readonly #unsent = new Fifo<JsonObject>()
  #overflowing = false
  #ended = false
  #closed = false

  constructor(options: CallOptions) {
    this.#o = options
    this.id = options.id
    this.traceSession = options.traceSession
    this.caller = options.caller
    if (options.model !== undefined) this.model = options.model
    if (options.session !== undefined) this.session = options.session
    this.signal = this.#controller.signal
    this.audio = this.#audio
    this.events = this.#events
  }

  get queuedMs(): number {
    return this.#o.media.queuedMs
  }

  /** The caller spoke. Beyond MAX_AUDIO_MS unread, the oldest frames are dropped. */
  pushFrame(frame: AudioFrame): void {
    this.#audio.push(frame)
    while (this.#audio.weight > MAX_AUDIO_MS) {
      this.counters.droppedAudioMs += this.#audio.shift()?.durationMs ?? 0
    }
  }

  /** The client sent an event. With MAX_EVENTS unread it is dropped, and the client is told so once. */
  pushEvent(event: JsonObject): void {
    if (this.#closed) return
    if (this.#events.weight < MAX_EVENTS) {
      this.#overflowing = false
      this.#events.push(event)
      return
    }
    this.counters.droppedEvents++
    if (this.#overflowing) return
    this.#overflowing = true
    this.send(overflow())
  }

  /** To the data channel, in order; kept while it is not open, but no more than MAX_EVENTS. */
  send(event: JsonObject): void {
    if (this.#closed) return
    if (this.#unsent.length === 0 && this.#o.sendEvent(event)) return
    if (this.#unsent.length < MAX_EVENTS) this.#unsent.push(event)
    else this.counters.unsentEvents++
  }

  /** The data channel is open: what was kept is sent. */
  channelOpen(): void {
    for (let event = this.#unsent.peek(); event && !this.#closed; event = this.#unsent.peek()) {
      if (!this.#o.sendEvent(event)) return
      this.#unsent.shift()
    }
  }

  /** Queues a frame for the caller; see the media session. After the end it is dropped, and resolves at once. */
  play(frame: AudioFrame, tag?: string): Promise<void> {
    return this.#closed ? Promise.resolve() : this.#o.media.play(frame, tag)
  }

  flush(): Played[] {
    return this.#closed ? [] : this.#o.media.flush()
  }

  /** The bridge ends the call. Idempotent, and nothing after the call's end. */
  end(reason: string): void {
    if (this.#ended || this.#closed) return
    this.#ended = true
    this.#o.onEnd(reason)
  }

  /** The call has ended: `signal` aborts, the iterables end, everything else does nothing any more. Idempotent. */
  close(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#unsent.clear()
    this.#audio.end()
    this.#events.end()
    this.#controller.abort(new DOMException(`The call has ended: ${reason}.`, 'AbortError'))
  }
}

function overflow(): JsonObject {
  const message = `More than ${MAX_EVENTS} events were waiting for the bridge; events were dropped.`
  return { type: 'error', error: { type: 'server_error', code: 'events_dropped', message, param: null } }
}
