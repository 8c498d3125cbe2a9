/**
 * A caller who talks to an edge that gives everything back: numbered audio packets every 20 ms, numbered events now
 * and then, and an account of what came back.
 */

import assert from 'node:assert/strict'
import { eventually } from '../../../core/testing/check.ts'
import type { TestClient } from '../../peers/client.ts'
import { onTick } from '../../peers/ticker.ts'

const PACKET_MS = 20
const PACKETS_PER_EVENT = 10
const PACKET_BYTES = 60
/** 20 ms of CELT, fullband, mono: what makes the rest one Opus packet, as far as its length goes. */
const TOC = 31 << 3

/** What came of a conversation. */
export interface Account {
  /** Packets that were sent. */
  readonly sent: number
  /** Their numbers as they came back. */
  readonly heard: readonly number[]
  readonly lost: number
  readonly eventsSent: number
  readonly eventsHeard: readonly unknown[]
}

/** One conversation, from `new` to `finish`; `using` ends it where a test fails in between. */
export class Conversation implements Disposable {
  readonly #client: TestClient
  readonly #withEvents: boolean
  readonly #heard: number[] = []
  readonly #eventsHeard: unknown[] = []
  readonly #startedAt = performance.now()
  readonly #stop: () => void
  #talking = true
  #sent = 0
  #eventsSent = 0

  /** Begins to talk. */
  constructor(client: TestClient, withEvents = true) {
    this.#client = client
    this.#withEvents = withEvents
    this.#stop = onTick((now) => this.#tick(now))
  }

  /** Resolves when `count` packets that were sent after this call have come back. */
  async exchange(count: number): Promise<void> {
    const from = this.#sent
    let seen = this.#heard.length
    let returned = 0
    await eventually(
      `${count} more packets came back`,
      () => {
        for (; seen < this.#heard.length; seen++) if (this.#heard[seen]! >= from) returned++
        return returned >= count
      },
      count * PACKET_MS + 10_000,
    )
  }

  /**
   * Falls silent, waits until the last packet and every event have come back, and gives the account. With `untouched`
   * false, where audio comes back as other packets, it waits for events only.
   */
  async finish(untouched = true): Promise<Account> {
    this.#talking = false
    const last = (): boolean => !untouched || this.#heard.at(-1) === this.#sent - 1
    const events = (): boolean => this.#eventsHeard.length >= this.#eventsSent
    // Whatever is missing then shows in the account.
    await eventually('all came back', () => last() && events(), 5000).catch(() => {})
    this.#stop()
    return {
      sent: this.#sent,
      heard: this.#heard,
      lost: this.#sent - new Set(this.#heard).size,
      eventsSent: this.#eventsSent,
      eventsHeard: this.#eventsHeard,
    }
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #tick(now: number): void {
    for (const { payload } of this.#client.audio.drain()) this.#heard.push(payload.readUInt32BE(1))
    for (const event of this.#client.events.drain()) this.#eventsHeard.push(event)
    if (!this.#talking) return
    for (const due = (now - this.#startedAt) / PACKET_MS; this.#sent < due; ) this.#say()
  }

  #say(): void {
    const number = this.#sent++
    const packet = Buffer.alloc(PACKET_BYTES, number)
    packet[0] = TOC
    packet.writeUInt32BE(number, 1)
    this.#client.sendAudio(packet)
    if (this.#withEvents && number % PACKETS_PER_EVENT === 0) {
      this.#client.sendEvent({ type: 'note', n: this.#eventsSent++ })
    }
  }
}

/** Fails unless everything came back, once, in order. */
export function assertWhole({ sent, heard, eventsSent, eventsHeard }: Account): void {
  assert.deepEqual(
    heard,
    Array.from({ length: sent }, (_, n) => n),
  )
  assertEvents({ eventsSent, eventsHeard })
}

/** Fails unless what came back was in order and not doubled; some may be missing. */
export function assertInOrder({ heard }: Pick<Account, 'heard'>): void {
  for (let i = 1; i < heard.length; i++) {
    assert.ok(heard[i]! > heard[i - 1]!, `packet ${heard[i]} came after packet ${heard[i - 1]}`)
  }
}

/** Fails unless every event came back, once, in order. */
export function assertEvents({ eventsSent, eventsHeard }: Pick<Account, 'eventsSent' | 'eventsHeard'>): void {
  assert.deepEqual(
    eventsHeard,
    Array.from({ length: eventsSent }, (_, n) => ({ type: 'note', n })),
  )
}
