/** A list of records by age, oldest first, by links in two of their fields. A record is in at most one list. */

/** A list in a relay's memory. */
export class RecordList {
  readonly #words: Int32Array
  readonly #oldest: number
  readonly #newest: number
  readonly #size: number
  readonly #older: number
  readonly #newer: number

  /** `header` is where the list's three words are; `older` and `newer` are the fields of its records. */
  constructor(words: Int32Array, header: number, older: number, newer: number) {
    this.#words = words
    this.#oldest = header
    this.#newest = header + 1
    this.#size = header + 2
    this.#older = older
    this.#newer = newer
  }

  /** The oldest record, 0 when there is none. */
  get oldest(): number {
    return this.#words[this.#oldest]!
  }

  get size(): number {
    return this.#words[this.#size]!
  }

  /** Adds a record as the newest. */
  push(record: number): void {
    const words = this.#words
    const newest = words[this.#newest]!
    words[record + this.#older] = newest
    words[record + this.#newer] = 0
    if (newest !== 0) words[newest + this.#newer] = record
    else words[this.#oldest] = record
    words[this.#newest] = record
    words[this.#size]!++
  }

  /** Takes out a record that is in this list. */
  remove(record: number): void {
    const words = this.#words
    const older = words[record + this.#older]!
    const newer = words[record + this.#newer]!
    if (older !== 0) words[older + this.#newer] = newer
    else words[this.#oldest] = newer
    if (newer !== 0) words[newer + this.#older] = older
    else words[this.#newest] = older
    words[this.#size]!--
  }

  /** Is empty from now on; the records are not touched. */
  clear(): void {
    const words = this.#words
    words[this.#oldest] = words[this.#newest] = words[this.#size] = 0
  }
}
