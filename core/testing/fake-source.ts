/** An iterable that tests write to, for one reader, which notes a second one. */

/** What is pushed comes out in order, until the end. */
export class FakeSource<T> implements AsyncIterable<T> {
  readonly #onSecondReader: () => void
  readonly #items: T[] = []
  readonly #readings: { readonly upTo: number; readonly resolve: () => void }[] = []
  #wake: (() => void) | undefined
  #pushed = 0
  #waiting = false
  #ended = false
  #read = false

  constructor(onSecondReader: () => void) {
    this.#onSecondReader = onSecondReader
  }

  /** How many items nobody has taken yet. */
  get unread(): number {
    return this.#items.length
  }

  /** Adds an item. */
  push(item: T): void {
    this.#pushed++
    this.#items.push(item)
    this.#wake?.()
  }

  /** Ends the iteration; what waits is dropped. Idempotent. */
  end(): void {
    this.#ended = true
    this.#items.length = 0
    this.#settle()
    this.#wake?.()
  }

  /** Resolves when the reader has taken all that was pushed and asks for more; at once without one, or at the end. */
  allRead(): Promise<void> {
    if (this.#ended || !this.#read || (this.#waiting && this.#items.length === 0)) return Promise.resolve()
    return new Promise((resolve) => this.#readings.push({ upTo: this.#pushed, resolve }))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    if (this.#read) this.#onSecondReader()
    this.#read = true
    try {
      for (;;) {
        this.#settle()
        const item = this.#items.shift()
        if (item !== undefined) yield item
        else if (this.#ended) return
        else await this.#next()
      }
    } finally {
      this.end()
    }
  }

  async #next(): Promise<void> {
    this.#waiting = true
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#waiting = false
  }

  #settle(): void {
    const read = this.#pushed - this.#items.length
    while (this.#readings.length > 0 && this.#readings[0]!.upTo <= read) this.#readings.shift()!.resolve()
  }
}
