/**
 * What is to be written to the store, in order, until it can be. Bounded: when it is full the oldest goes. What waited
 * longer than an entry lives is not written any more. Time is an input.
 */

/** How long an entry lives after its flow was last noted. Milliseconds. */
export const TTL_MS = 30_000

/** A flow to note, or to forget if it still points at a transceiver. Bytes as text, one character each. */
export type Write = {
  /** Advertised address and client. */
  readonly identity: string
  /** When it was asked for, in the queue's own time. */
  readonly at: number
} & (
  | { readonly type: 'remember'; readonly route: string }
  | { readonly type: 'forget'; readonly transceiver: string }
)

/** Writes in the order in which they were last asked for. Noting a flow again replaces what was still to be written. */
export class WriteQueue {
  /** Writes that never went out: pushed out of a full queue, or too old. */
  readonly dropped = { overflow: 0, expired: 0 }
  readonly #writes = new Map<string, Write>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#writes.size
  }

  /** Notes a flow; `now` in milliseconds, and it must not go back. */
  remember(now: number, identity: string, route: string): void {
    this.#put(identity, { type: 'remember', identity, route, at: now })
  }

  /**
   * Forgets a flow. It has a place of its own behind what was noted before it: only the server can tell whether it
   * applies.
   */
  forget(now: number, identity: string, transceiver: string): void {
    this.#put(identity + transceiver, { type: 'forget', identity, transceiver, at: now })
  }

  /** Takes out the oldest writes, at most `limit`, without those that are too old. */
  take(now: number, limit: number): Write[] {
    const taken: Write[] = []
    for (const [key, write] of this.#writes) {
      if (taken.length === limit) break
      this.#writes.delete(key)
      if (now - write.at < TTL_MS) taken.push(write)
      else this.dropped.expired++
    }
    return taken
  }

  #put(key: string, write: Write): void {
    // Setting alone would leave it at its old place, before a forget that came in between.
    this.#writes.delete(key)
    this.#writes.set(key, write)
    if (this.#writes.size > this.#capacity) this.#dropOldest()
  }

  #dropOldest(): void {
    for (const key of this.#writes.keys()) {
      this.#writes.delete(key)
      this.dropped.overflow++
      return
    }
  }
}
