/**
 * What a datagram loop and the thread that watches it say to each other, in shared memory. It also holds which batch is
 * at hand, so that the successor of a loop that died finishes it.
 */

/** Datagrams taken at a time. */
export const BATCH = 64

/** Bytes of the memory. */
export const CONTROL_BYTES = 64

const STOP = 0
const BEAT = 1
const SOCKET = 2
/** The word that says how many datagrams of the batch at hand there are. */
export const COUNT = 3
const AT = 4
const ATTEMPTS = 5
const BATCH_NUMBER = 6
/** The doubles begin here. */
const DOUBLES = 32

/** A view of the memory; each thread has its own. */
export class LoopControl {
  readonly words: Int32Array
  readonly #figures: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory)
    this.#figures = new Float64Array(memory, DOUBLES)
  }

  /** Asks the loop to end; it does within 50 ms, or at once when it is woken as well. */
  stop(): void {
    Atomics.store(this.words, STOP, 1)
  }

  get isStopped(): boolean {
    return Atomics.load(this.words, STOP) !== 0
  }

  /** Changes at least every 50 ms while the loop runs. */
  get beat(): number {
    return Atomics.load(this.words, BEAT)
  }

  /** The loop runs. */
  tick(): void {
    this.words[BEAT] = this.words[BEAT]! + 1
  }

  /** Batches taken, and milliseconds that the loop did not wait, since the first loop began. */
  get batches(): number {
    return this.#figures[0]!
  }
  get busyMs(): number {
    return this.#figures[1]!
  }

  /** The loop did not wait for so long. */
  addBusy(milliseconds: number): void {
    this.#figures[1]! += milliseconds
  }

  /** The socket whose batch is at hand; to be said before it is received, and its count is to be put in its word. */
  begin(socket: number): void {
    this.words[BATCH_NUMBER] = (this.words[BATCH_NUMBER]! + 1) | 0
    this.words[AT] = 0
    this.words[SOCKET] = socket
  }

  /** Which batch is at hand; the successor of a loop that died in it has the same number. */
  get batch(): number {
    return this.words[BATCH_NUMBER]!
  }

  /** A batch was received, its count being in its word already. */
  countBatch(): void {
    this.#figures[0]!++
  }

  /** The i-th datagram of the batch is looked at from now on. */
  reach(i: number): void {
    this.words[AT] = i
  }

  /** The batch has been dealt with. */
  finish(): void {
    this.words[COUNT] = 0
    this.words[ATTEMPTS] = 0
  }

  /**
   * What a loop left behind that died: the socket, how many datagrams, and which one to pass over (-1 for none). One at
   * which two loops have died is passed over by the third.
   */
  leftover(): { socket: number; count: number; skip: number } | undefined {
    const count = this.words[COUNT]!
    if (count <= 0) return undefined
    const attempts = ++this.words[ATTEMPTS]!
    return { socket: this.words[SOCKET]!, count, skip: attempts > 1 ? this.words[AT]! : -1 }
  }
}
