/** What waits for a bridge to read it: bounded, in order, for one reader, and over when the call is. */

import { EdgeError } from '../../core/index.ts'
import { Fifo } from './media/fifo.ts'

/** An iterable that is written to from outside. */
export class CallQueue<T> implements AsyncIterable<T> {
  readonly #name: string
  readonly #onTaken: (() => void) | undefined
  readonly #items = new Fifo<T>()
  readonly #weights = new Fifo<number>()
  /** Who asked and got nothing yet; a reader may ask again before it is answered. */
  readonly #waiting = new Fifo<(result: IteratorResult<T, undefined>) => void>()
  readonly #readings: { upTo: number; resolve: () => void }[] = []
  /** How many items have ever been pushed. */
  #pushed = 0
  #weight = 0
  #taken = false
  #ended = false

  /** `name` is for the error a second reader gets; `onTaken` is told of the first. */
  constructor(name: string, onTaken?: () => void) {
    this.#name = name
    this.#onTaken = onTaken
  }

  /** How many items wait. */
  get length(): number {
    return this.#items.length
  }

  /** What they weigh together. */
  get weight(): number {
    return this.#weight
  }

  /** Gives an item to the reader, at once or when it asks. After the end it is dropped. */
  push(item: T, weight: number): void {
    if (this.#ended) return
    this.#pushed++
    const waiting = this.#waiting.shift()
    if (waiting) {
      waiting({ done: false, value: item })
      return
    }
    this.#items.push(item)
    this.#weights.push(weight)
    this.#weight += weight
  }

  /** Takes the oldest waiting item back. */
  shift(): T | undefined {
    this.#weight -= this.#weights.shift() ?? 0
    return this.#items.shift()
  }

  /**
   * Resolves when the reader has taken all that was pushed by now and asks for more; at once without a reader, or at
   * the end.
   */
  allRead(): Promise<void> {
    if (this.#ended || !this.#taken || this.#waiting.length > 0) return Promise.resolve()
    return new Promise((resolve) => this.#readings.push({ upTo: this.#pushed, resolve }))
  }

  /** Ends the iteration; what waits is dropped. Idempotent. */
  end(): void {
    this.#ended = true
    this.#items.clear()
    this.#weights.clear()
    this.#weight = 0
    for (let waiting = this.#waiting.shift(); waiting; waiting = this.#waiting.shift())
      waiting({ done: true, value: undefined })
    this.#settle(this.#pushed)
  }

  /** Throws EdgeError `internal` the second time: two readers would each get half. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    if (this.#taken)
      throw new EdgeError('internal', `A call's ${this.#name} has one reader, and has one already.`)
    this.#taken = true
    this.#onTaken?.()
    return {
      next: () => this.#read(),
      return: () => {
        this.end()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  /** The reader is done with the first so many items. */
  #settle(read: number): void {
    while (this.#readings.length > 0 && this.#readings[0]!.upTo <= read) this.#readings.shift()!.resolve()
  }

  #read(): Promise<IteratorResult<T, undefined>> {
    this.#settle(this.#pushed - this.#items.length)
    const item = this.shift()
    if (item !== undefined) return Promise.resolve({ done: false, value: item })
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
