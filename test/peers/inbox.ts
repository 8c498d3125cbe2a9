/** What has come in and was not yet looked at, with a way to wait for more that cannot hang. */

/** How long `take` waits unless told otherwise, in milliseconds. */
export const PATIENCE_MS = 5000

interface Waiter {
  readonly count: number
  readonly resolve: () => void
}

/** A queue with one reader. It keeps the newest `limit` items; `total` counts all. */
export class Inbox<T> {
  /** Everything that ever came. */
  total = 0
  readonly #what: string
  readonly #limit: number
  #items: T[] = []
  #waiter: Waiter | undefined

  /** `what` names the items in errors. With a limit of 0 it only counts. */
  constructor(what: string, limit = 10_000) {
    this.#what = what
    this.#limit = limit
  }

  /** Items that nobody took yet. */
  get length(): number {
    return this.#items.length
  }

  push(item: T): void {
    this.total++
    this.#items.push(item)
    if (this.#items.length > this.#limit) this.#items.shift()
    if (this.#waiter && this.#items.length >= this.#waiter.count) this.#waiter.resolve()
  }

  /** Takes everything that is there now. */
  drain(): T[] {
    const items = this.#items
    this.#items = []
    return items
  }

  /** Takes the next item; rejects when none comes in time. */
  async take(withinMs = PATIENCE_MS): Promise<T> {
    const [item] = await this.takeMany(1, withinMs)
    return item!
  }

  /** Takes the next `count` items; rejects when they do not come in time, and takes none then. */
  async takeMany(count: number, withinMs = PATIENCE_MS): Promise<T[]> {
    if (this.#items.length < count) await this.#wait(count, withinMs)
    return this.#items.splice(0, count)
  }

  /** Takes items until one passes; rejects when none does in time. */
  async find(passes: (item: T) => boolean, withinMs = PATIENCE_MS): Promise<T> {
    const end = performance.now() + withinMs
    for (;;) {
      const item = await this.take(Math.max(1, end - performance.now()))
      if (passes(item)) return item
    }
  }

  async #wait(count: number, withinMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const late = () =>
      reject(new Error(`${this.#items.length} of ${count} ${this.#what} came within ${withinMs} ms`))
    const timer = setTimeout(late, withinMs)
    this.#waiter = { count, resolve }
    try {
      await promise
    } finally {
      clearTimeout(timer)
      this.#waiter = undefined
    }
  }
}
