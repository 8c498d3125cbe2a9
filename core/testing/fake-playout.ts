/** The playout of a fake call: what is played leaves at once, or when the test lets it. */

import type { Played, PlayoutEvent } from '../contracts/inference-bridge.ts'

interface Tag {
  readonly name: string | undefined
  leftMs: number
}

/** Durations in order, each under a tag, and how much of each tag has left. */
export class FakePlayout {
  readonly #roomMs: number
  readonly #onEvent: (event: PlayoutEvent) => void
  readonly #tags = new Map<string | undefined, Tag>()
  #queue: { tag: Tag; leftMs: number }[] = []
  #room: PromiseWithResolvers<void> | undefined
  #hold: boolean
  #moved = false

  constructor(roomMs: number, hold: boolean, onEvent: (event: PlayoutEvent) => void) {
    this.#roomMs = roomMs
    this.#hold = hold
    this.#onEvent = onEvent
  }

  /** What has not left. */
  get queuedMs(): number {
    return this.#queue.reduce((sum, { leftMs }) => sum + leftMs, 0)
  }

  /** Queues so many milliseconds; resolves when there is room for more. */
  push(durationMs: number, name: string | undefined): Promise<void> {
    let tag = this.#tags.get(name)
    if (!tag) {
      tag = { name, leftMs: 0 }
      this.#tags.set(name, tag)
    }
    this.#queue.push({ tag, leftMs: durationMs })
    if (!this.#hold) this.#leave(durationMs)
    if (this.queuedMs < this.#roomMs) return Promise.resolve()
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  /** So many milliseconds leave, or everything, from now on at once. */
  release(ms?: number): void {
    if (ms === undefined) this.#hold = false
    this.#leave(ms ?? this.queuedMs)
  }

  /** Drops what is queued; per tag since the last flush, what has left. */
  flush(): Played[] {
    const played: Played[] = []
    for (const { name, leftMs } of this.#tags.values())
      if (name !== undefined) played.push({ tag: name, playedMs: leftMs })
    this.#tags.clear()
    this.#moved = false
    this.#queue = []
    this.#makeRoom()
    return played
  }

  #leave(ms: number): void {
    let left = ms
    for (let first = this.#queue[0]; first && left > 0; first = this.#queue[0]) {
      const part = Math.min(left, first.leftMs)
      if (part > 0 && first.tag.leftMs === 0) this.#onEvent({ type: 'started', tag: first.tag.name })
      first.tag.leftMs += part
      first.leftMs -= part
      left -= part
      this.#moved = true
      if (first.leftMs === 0) this.#queue.shift()
    }
    this.#makeRoom()
    if (this.#moved && this.#queue.length === 0) setImmediate(() => this.#drain())
  }

  /** A bridge that waits for room plays on within the turn of the event loop: that is no drain between its frames. */
  #drain(): void {
    if (!this.#moved || this.#queue.length > 0) return
    this.#moved = false
    this.#onEvent({ type: 'drained' })
  }

  #makeRoom(): void {
    if (this.queuedMs >= this.#roomMs) return
    this.#room?.resolve()
    this.#room = undefined
  }
}
