/** Descriptors that a thread of its own waits for together, by `poll`. Nothing is allocated after construction. */

import type { Libc } from './libc.ts'
import { addressOf, nativeBuffer } from './native.ts'

/** Bytes of a `struct pollfd`: descriptor 0, events 4, what came of them 6. */
const ENTRY = 8
const POLLIN = 1

/** A fixed set of descriptors. */
export class PollSet {
  readonly size: number
  readonly #libc: Libc
  readonly #words: Uint32Array
  readonly #base: number

  constructor(libc: Libc, descriptors: readonly number[]) {
    this.size = descriptors.length
    this.#libc = libc
    const memory = nativeBuffer(descriptors.length * ENTRY)
    this.#words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length >>> 2)
    this.#base = addressOf(memory)
    for (const [i, fd] of descriptors.entries()) {
      this.#words[2 * i] = fd
      this.#words[2 * i + 1] = POLLIN
    }
  }

  /** Waits at most so many milliseconds; true when something can be read. A signal that interrupts it is a time-out. */
  wait(milliseconds: number): boolean {
    return this.#libc.poll(this.#base, this.size, milliseconds) > 0
  }

  /** Whether the last successful `wait` found something at the i-th descriptor: data, or an error to collect. */
  isReadable(i: number): boolean {
    return this.#words[2 * i + 1]! >>> 16 !== 0
  }
}
