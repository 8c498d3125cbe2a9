/**
 * Where bytes wait while the kernel takes them: a fixed number of slots, made in chunks when they are first
 * needed, so that a port that sends little costs little and one that sends much allocates nothing.
 */

/** Bytes a slot holds: the largest datagram and the largest header. */
export const SLOT_SIZE = 2112

const CHUNK = 64

/** One slot: its bytes, and the callback that gives it back. */
export interface SendSlot {
  readonly bytes: Buffer
  readonly done: (error: Error | null) => void
}

/** A bounded pool of send slots. */
export class SendSlots {
  readonly #limit: number
  readonly #free: SendSlot[] = []
  readonly #onDone: (error: Error | null) => void
  #made = 0

  /** `limit` slots at most; `onDone` hears of each send that ended, after its slot is free. */
  constructor(limit: number, onDone: (error: Error | null) => void) {
    this.#limit = limit
    this.#onDone = onDone
  }

  /** Slots taken and not yet given back. */
  get inFlight(): number {
    return this.#made - this.#free.length
  }

  /** A free slot, or undefined when all are in flight. */
  take(): SendSlot | undefined {
    if (this.#free.length === 0 && this.#made < this.#limit) this.#grow()
    return this.#free.pop()
  }

  /** Gives a slot back that was never handed to the kernel. */
  release(slot: SendSlot): void {
    this.#free.push(slot)
  }

  #grow(): void {
    const count = Math.min(CHUNK, this.#limit - this.#made)
    const chunk = Buffer.allocUnsafeSlow(count * SLOT_SIZE)
    for (let i = 0; i < count; i++) {
      const slot: SendSlot = {
        bytes: chunk.subarray(i * SLOT_SIZE, (i + 1) * SLOT_SIZE),
        done: (error) => {
          this.#free.push(slot)
          this.#onDone(error)
        },
      }
      this.#free.push(slot)
    }
    this.#made += count
  }
}
