/**
 * What waits to be sent to the caller: frames in order, each under a tag, and how much of each tag has left.
 * Nothing is lost, doubled or put out of order; only `flush` drops. Pure: it is asked for the next piece.
 */

import {
  type AudioFormat,
  type AudioFrame,
  EdgeError,
  type Played,
  type PlayoutEvent,
} from '../../../core/index.ts'
import { Fifo } from './fifo.ts'
import { MAX_OPUS_PACKET, opusSamples } from './opus-packet.ts'

/** `play` says there is room for more while less than this is queued. */
export const ROOM_MS = 200
/** Tags are remembered until a flush, but no more of those that are over than this. */
const MAX_TAGS = 256

interface Tag {
  readonly name: string | undefined
  /** Samples, at the queue's rate. */
  sent: number
  queued: number
}

interface Queued {
  readonly data: Uint8Array
  readonly samples: number
  readonly tag: Tag
}

const READY = Promise.resolve()
const DRAINED: PlayoutEvent = { type: 'drained' }

/** One call's queue. Samples are at `rate`: the bridge's own for PCM, 48 kHz for Opus. */
export class PlayoutQueue {
  readonly rate: number
  readonly #opus: boolean
  readonly #frames = new Fifo<Queued>()
  readonly #tags = new Map<string, Tag>()
  /** Those of which nothing is queued, in the order they came to be over. */
  readonly #over = new Set<string>()
  readonly #slice: Uint8Array
  readonly #onEvent: (event: PlayoutEvent) => void
  /** Of frames without a tag. */
  #untagged: Tag = newTag(undefined)
  /** Something has left since the last drain or flush. */
  #moved = false
  #queued = 0
  /** Bytes of the first frame that have left already. PCM only. */
  #used = 0
  #room: { promise: Promise<void>; resolve: () => void } | undefined
  #closed = false

  constructor(format: AudioFormat, onEvent: (event: PlayoutEvent) => void) {
    this.#onEvent = onEvent
    this.#opus = format === 'opus'
    this.rate = format === 'opus' ? 48000 : format.pcm16
    this.#slice = new Uint8Array(this.#opus ? 0 : (this.rate / 50) * 2)
  }

  /** Audio not yet taken. */
  get queuedMs(): number {
    return (this.#queued * 1000) / this.rate
  }

  /**
   * Queues a frame, which is the queue's from now on. Resolves when there is room for more, at once when it is
   * closed; rejects with EdgeError `bridge_failed` for what is no frame in its format, and queues nothing then.
   */
  push(frame: AudioFrame, tag: string | undefined): Promise<void> {
    if (this.#closed) return READY
    const { data } = frame
    const samples = this.#opus ? opusLength(data) : data.length / 2
    if (!Number.isInteger(samples) || (this.#opus && samples === 0))
      return Promise.reject(unplayable(this.#opus))
    if (samples > 0) this.#append(data, samples, tag)
    if (this.queuedMs < ROOM_MS) return READY
    this.#room ??= Promise.withResolvers<void>()
    return this.#room.promise
  }

  /**
   * Takes the next Opus packet out, or undefined when nothing is queued.
   */
  takePacket(): Uint8Array | undefined {
    const frame = this.#frames.shift()
    if (!frame) return undefined
    this.#count(frame.tag, frame.samples)
    this.#makeRoom()
    return frame.data
  }

  /**
   * Takes the next 20 ms of samples out, joined or cut from frames of any length and filled up with silence when
   * less is queued, or undefined when nothing is. The bytes are good until the next call.
   */
  takeSlice(): Uint8Array | undefined {
    if (this.#queued === 0) return undefined
    const slice = this.#slice
    let filled = 0
    while (filled < slice.length) {
      const frame = this.#frames.peek()
      if (!frame) break
      const length = Math.min(slice.length - filled, frame.data.length - this.#used)
      slice.set(frame.data.subarray(this.#used, this.#used + length), filled)
      filled += length
      this.#used += length
      this.#count(frame.tag, length / 2)
      if (this.#used < frame.data.length) continue
      this.#frames.shift()
      this.#used = 0
    }
    slice.fill(0, filled)
    this.#makeRoom()
    return slice
  }

  /** What was taken has sounded to its end. Says so, once, when nothing has been queued since. */
  drained(): void {
    if (!this.#moved || this.#queued > 0) return
    this.#moved = false
    this.#onEvent(DRAINED)
  }

  /** Drops what is queued; per tag since the last flush, in the order they came, the milliseconds taken. */
  flush(): Played[] {
    const played: Played[] = []
    for (const [tag, { sent }] of this.#tags) played.push({ tag, playedMs: (sent * 1000) / this.rate })
    this.#tags.clear()
    this.#over.clear()
    if (this.#untagged.sent > 0) this.#untagged = newTag(undefined)
    this.#moved = false
    this.#frames.clear()
    this.#used = 0
    this.#queued = 0
    this.#makeRoom()
    return played
  }

  /** Drops what is queued, lets every waiter go, and takes nothing any more. Idempotent. */
  close(): void {
    this.#closed = true
    this.flush()
  }

  #append(data: Uint8Array, samples: number, name: string | undefined): void {
    const tag = name === undefined ? this.#untagged : this.#tag(name)
    tag.queued += samples
    this.#frames.push({ data, samples, tag })
    this.#queued += samples
  }

  #tag(name: string): Tag {
    const known = this.#tags.get(name)
    if (known) {
      if (known.queued === 0) this.#over.delete(name)
      return known
    }
    const tag = newTag(name)
    this.#tags.set(name, tag)
    return tag
  }

  #end(name: string): void {
    this.#over.add(name)
    if (this.#over.size <= MAX_TAGS) return
    for (const oldest of this.#over) {
      this.#over.delete(oldest)
      this.#tags.delete(oldest)
      return
    }
  }

  #count(tag: Tag, samples: number): void {
    this.#queued -= samples
    tag.queued -= samples
    if (tag.sent === 0) this.#onEvent({ type: 'started', tag: tag.name })
    tag.sent += samples
    this.#moved = true
    if (tag.queued === 0 && tag.name !== undefined) this.#end(tag.name)
  }

  #makeRoom(): void {
    if (!this.#room || this.queuedMs >= ROOM_MS) return
    this.#room.resolve()
    this.#room = undefined
  }
}

function newTag(name: string | undefined): Tag {
  return { name, sent: 0, queued: 0 }
}

function opusLength(data: Uint8Array): number {
  return data.length > MAX_OPUS_PACKET ? 0 : opusSamples(data, 0, data.length)
}

function unplayable(opus: boolean): EdgeError {
  const expected = opus
    ? `an Opus packet of 1 to ${MAX_OPUS_PACKET} bytes`
    : 'PCM16, which has an even number of bytes'
  return new EdgeError('bridge_failed', `The bridge played a frame that is not ${expected}.`)
}
