/**
 * One call as its bridge sees it. A bridge that reads too slowly loses the oldest audio and the newest events,
 * never memory; a client whose events are lost is told.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { AudioFrame, BridgeCall, JsonObject, Played, PlayoutEvent, Principal } from '../../core/index.ts'
import { CallQueue } from './call-queue.ts'
import { Fifo } from './media/fifo.ts'
import { droppedEvents } from './session-events.ts'

/** How much of the caller's audio waits for the bridge at most. */
export const MAX_AUDIO_MS = 2000
/** How many events wait at most, for the bridge and for the data channel each. */
export const MAX_EVENTS = 256
/** How many characters of their JSON text wait at most, likewise. */
export const MAX_EVENT_TEXT = 1_048_576
/** How many playout events wait at most; the newest are kept. */
export const MAX_PLAYOUT = 64
/** How much of a bridge's reason for ending the call is kept, in characters. */
export const MAX_REASON = 128
/** How long playing to a call that has ended takes: a slot, so that a bridge that plays on regardless harms nobody. */
const DEAF_MS = 20

/** The part of a media session that a call passes on. */
export interface CallMedia {
  play(frame: AudioFrame, tag?: string): Promise<void>
  flush(): Played[]
  readonly queuedMs: number
  /** Hears what the playout does from now on. */
  follow(onPlayout: (event: PlayoutEvent) => void): void
  /** Hands out everything that came by now. */
  handOut(): void
}

/** What a call is made of. */
export interface CallOptions {
  readonly id: string
  readonly traceSession: Uint8Array
  readonly caller: Principal
  readonly model?: string
  readonly session?: JsonObject
  readonly media: CallMedia
  /** Where to count; all calls of a transceiver may share it. */
  readonly counters?: CallCounters
  /** Sends an event's JSON text on the data channel; false when that may work later: see `sendKept`. */
  sendEvent(text: string): boolean
  /** The bridge has taken the call up: it reads the caller's audio, or the events. Called for each. */
  readonly onOpened?: () => void
  /** Hears every event that the bridge sends, as it is sent. */
  onSend?(text: string): void
  /** The bridge wants the call to end. Called once at most. */
  onEnd(reason: string): void
}

/** What a slow bridge or a channel that never opened has cost. */
export interface CallCounters {
  droppedAudioMs: number
  /** From the client, unread by the bridge. */
  droppedEvents: number
  /** To the client, whose channel was not open, or full. */
  unsentEvents: number
}

/** Nothing lost. */
export const noLosses = (): CallCounters => ({ droppedAudioMs: 0, droppedEvents: 0, unsentEvents: 0 })

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
  readonly playout: AsyncIterable<PlayoutEvent>
  readonly counters: CallCounters
  readonly #o: CallOptions
  readonly #controller = new AbortController()
  readonly #audio: CallQueue<AudioFrame>
  readonly #events: CallQueue<JsonObject>
  readonly #playout = new CallQueue<PlayoutEvent>('playout')
  readonly #unsent = new Fifo<string>()
  #unsentText = 0
  #overflowing = false
  #ended = false
  #closed = false

  constructor(options: CallOptions) {
    this.#o = options
    this.id = options.id
    this.traceSession = options.traceSession
    this.caller = options.caller
    this.counters = options.counters ?? noLosses()
    if (options.model !== undefined) this.model = options.model
    if (options.session !== undefined) this.session = options.session
    this.signal = this.#controller.signal
    this.#audio = new CallQueue('audio', options.onOpened)
    this.#events = new CallQueue('events', options.onOpened)
    this.audio = this.#audio
    this.events = this.#events
    this.playout = this.#playout
    options.media.follow((event) => this.#pushPlayout(event))
  }

  get queuedMs(): number {
    return this.#o.media.queuedMs
  }

  /** The caller spoke. Beyond MAX_AUDIO_MS unread, the oldest frames are dropped. */
  pushFrame(frame: AudioFrame): void {
    this.#audio.push(frame, frame.durationMs)
    while (this.#audio.weight > MAX_AUDIO_MS) {
      this.counters.droppedAudioMs += this.#audio.shift()?.durationMs ?? 0
    }
  }

  /**
   * The client sent an event, as JSON of so many characters. With MAX_EVENTS or MAX_EVENT_TEXT unread it is dropped, and
   * the client is told so once.
   */
  pushEvent(event: JsonObject, characters = 0): void {
    if (this.#closed) return
    const { length, weight } = this.#events
    if (length === 0 || (length < MAX_EVENTS && weight + characters <= MAX_EVENT_TEXT)) {
      this.#overflowing = false
      this.#events.push(event, characters)
      return
    }
    this.counters.droppedEvents++
    if (this.#overflowing) return
    this.#overflowing = true
    this.send(droppedEvents('Too many events were waiting for the bridge; events were dropped.'))
  }

  /** To the data channel, in order; kept while it takes none, but no more than MAX_EVENTS or MAX_EVENT_TEXT. */
  send(event: JsonObject): void {
    if (this.#closed) return
    const text = JSON.stringify(event)
    this.#o.onSend?.(text)
    this.sendKept()
    if (this.#unsent.length === 0 && this.#o.sendEvent(text)) return
    if (this.#unsent.length >= MAX_EVENTS || this.#unsentText + text.length > MAX_EVENT_TEXT) {
      this.counters.unsentEvents++
      return
    }
    this.#unsent.push(text)
    this.#unsentText += text.length
  }

  /** Whether events are kept for a data channel that did not take them. */
  get keepsEvents(): boolean {
    return this.#unsent.length > 0
  }

  /** The data channel is open, or has room again: what was kept is sent, as far as it goes. */
  sendKept(): void {
    for (let text = this.#unsent.peek(); text !== undefined; text = this.#unsent.peek()) {
      if (!this.#o.sendEvent(text)) return
      this.#unsent.shift()
      this.#unsentText -= text.length
    }
  }

  /** Takes what is kept, to be sent by somebody else. */
  takeKept(): string[] {
    const kept: string[] = []
    for (let text = this.#unsent.shift(); text !== undefined; text = this.#unsent.shift()) kept.push(text)
    this.#unsentText = 0
    return kept
  }

  /** Queues a frame for the caller; see the media session. After the end it is dropped, and resolves all the same. */
  play(frame: AudioFrame, tag?: string): Promise<void> {
    return this.#closed ? delay(DEAF_MS, undefined, { ref: false }) : this.#o.media.play(frame, tag)
  }

  flush(): Played[] {
    return this.#closed ? [] : this.#o.media.flush()
  }

  /** See the contract: what the jitter buffer holds is handed out, and read. */
  heard(): Promise<void> {
    if (!this.#closed) this.#o.media.handOut()
    return this.#audio.allRead()
  }

  /** The bridge ends the call. Idempotent, and nothing after the call's end. */
  end(reason: string): void {
    if (this.#ended || this.#closed) return
    this.#ended = true
    this.#o.onEnd(reason.slice(0, MAX_REASON))
  }

  /** The call has ended: `signal` aborts, the iterables end, everything else does nothing any more. Idempotent. */
  close(reason: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#unsent.clear()
    this.#unsentText = 0
    this.#audio.end()
    this.#events.end()
    this.#playout.end()
    this.#controller.abort(new DOMException(`The call has ended: ${reason}.`, 'AbortError'))
  }

  #pushPlayout(event: PlayoutEvent): void {
    this.#playout.push(event, 1)
    if (this.#playout.length > MAX_PLAYOUT) this.#playout.shift()
  }
}
