/** A first-in-first-out queue that allocates only when it grows. Pure. */

/** Room for nothing, which every queue begins with: most stay empty in most calls. */
const NO_ROOM: never[] = []
const FIRST_ROOM = 16

/** Holds items in a ring whose size is a power of two, or 0. */
export class Fifo<T> {
  #ring: (T | undefined)[] = NO_ROOM
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: T): void {
    if (this.#length === this.#ring.length) this.#grow()
    this.#ring[(this.#head + this.#length) & (this.#ring.length - 1)] = item
    this.#length++
  }

  /** The oldest item, left where it is. */
  peek(): T | undefined {
    return this.#ring[this.#head]
  }

  /** Takes the oldest item out. */
  shift(): T | undefined {
    if (this.#length === 0) return undefined
    const item = this.#ring[this.#head]
    this.#ring[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#ring.length - 1)
    this.#length--
    return item
  }

  /** Drops everything, and the room that a burst needed. */
  clear(): void {
    this.#ring = NO_ROOM
    this.#head = 0
    this.#length = 0
  }

  #grow(): void {
    const old = this.#ring
    this.#ring = new Array(Math.max(FIRST_ROOM, old.length * 2))
    for (let i = 0; i < this.#length; i++) this.#ring[i] = old[(this.#head + i) & (old.length - 1)]
    this.#head = 0
  }
}
