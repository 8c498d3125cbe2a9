/**
 * The recovery store in Redis. Writing only notes what is to be written; batches go out behind it, one at a time, so
 * that a slow server is never sent more than it answers. Reading is bounded, in time and in number.
 */

import type { Address, Recovered, RecoveryStore } from '../../core/index.ts'
import type { Commands } from './commands.ts'
import type { Entries } from './entry.ts'
import type { Link } from './link.ts'
import type { Instruments } from './metrics.ts'
import { identityOf, routeText, transceiverText } from './pure/route-bytes.ts'
import { WriteQueue } from './pure/write-queue.ts'

/** How long writes are collected. Milliseconds. */
const COLLECT_MS = 20

/** Writes in one batch: what can be made in well under a millisecond, since the relay shares this thread. */
const BATCH = 128

/** Look-ups that may wait for an answer at a time. */
const MAX_IN_FLIGHT = 256

/** How long closing may take to write what is left. Milliseconds. */
const FLUSH_MS = 1_000

/** What the store is made of. */
export interface StoreParts {
  readonly link: Link
  readonly commands: Commands
  readonly entries: Entries
  readonly instruments: Instruments
  readonly maxQueued: number
}

/** The store. */
export class RedisStore implements RecoveryStore {
  readonly #parts: StoreParts
  readonly #queue: WriteQueue
  #inFlight = 0
  #timer: NodeJS.Timeout | undefined
  #batch: Promise<void> | undefined
  #isClosed = false
  #unsent = 0

  constructor(parts: StoreParts) {
    this.#parts = parts
    this.#queue = new WriteQueue(parts.maxQueued)
  }

  /** Writes that wait to be sent. */
  get queued(): number {
    return this.#queue.size
  }

  /** Look-ups that wait for an answer. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Writes that were never sent. */
  get dropped(): { readonly overflow: number; readonly expired: number; readonly closed: number } {
    return { ...this.#queue.dropped, closed: this.#unsent }
  }

  remember(advertised: Address, client: Address, value: Recovered): void {
    if (this.#isClosed) return
    this.#queue.remember(performance.now(), identityOf(advertised, client), routeText(value))
    this.wake()
  }

  forget(advertised: Address, client: Address, transceiver: Address): void {
    if (this.#isClosed) return
    this.#queue.forget(performance.now(), identityOf(advertised, client), transceiverText(transceiver))
    this.wake()
  }

  async recall(advertised: Address, client: Address, signal: AbortSignal): Promise<Recovered | undefined> {
    signal.throwIfAborted()
    const { link, entries, commands, instruments } = this.#parts
    if (!link.isReady) {
      instruments.ended('get', 'away')
      throw new Error('redis is away')
    }
    if (this.#inFlight >= MAX_IN_FLIGHT) {
      instruments.ended('get', 'busy')
      throw new Error('too many look-ups wait for redis')
    }
    const identity = identityOf(advertised, client)
    this.#inFlight++
    // It counts as in flight until Redis answered or timed out, whether the caller still waits or not.
    const read = commands.read(entries.key(identity)).finally(() => this.#inFlight--)
    const value = await untilAborted(read, signal)
    const found = value === null ? undefined : entries.open(identity, value)
    instruments.ended('get', value !== null && found === undefined ? 'unreadable' : 'ok')
    return found
  }

  /** Sends what waits, soon, if it can be sent. */
  wake(): void {
    if (this.#timer || this.#batch || this.#queue.size === 0 || !this.#parts.link.isReady) return
    this.#timer = setTimeout(() => this.#flush(), COLLECT_MS).unref()
  }

  /** Writes what is left, within a second and only if Redis is there, and disconnects. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    const late = new Promise<void>((done) => setTimeout(done, FLUSH_MS).unref())
    await Promise.race([this.#empty(), late])
    this.#unsent += this.#queue.size
    this.#parts.link.close()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const now = performance.now()
    const batch = this.#queue.take(now, BATCH)
    if (batch.length === 0) return
    this.#batch = this.#parts.commands.write(now, batch).then(() => {
      this.#batch = undefined
      if (this.#queue.size >= BATCH && this.#parts.link.isReady) this.#flush()
      else this.wake()
    })
  }

  async #empty(): Promise<void> {
    while (this.#batch || (this.#queue.size > 0 && this.#parts.link.isReady)) {
      if (!this.#batch) this.#flush()
      await this.#batch
    }
  }
}

/** What a promise gives, or the rejection of an aborted signal, whichever is first. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
