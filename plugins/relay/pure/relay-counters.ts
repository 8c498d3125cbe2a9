/** What went through a relay and what did not, since its memory was made. Counting allocates nothing. */

import { DROP_REASONS, type DropReason, numberOf } from './drop-reasons.ts'
import { HEADER_COUNTERS } from './records.ts'
import type { RelayMemory } from './relay-memory.ts'

const PACKETS_UP = HEADER_COUNTERS
const BYTES_UP = HEADER_COUNTERS + 1
const PACKETS_DOWN = HEADER_COUNTERS + 2
const BYTES_DOWN = HEADER_COUNTERS + 3
const DECODES = HEADER_COUNTERS + 4
const RECOVERIES = HEADER_COUNTERS + 5
const EVICTIONS = HEADER_COUNTERS + 6
const DROPS = HEADER_COUNTERS + 8

/** Datagrams dropped, by reason. */
export class DropCounts {
  readonly #floats: Float64Array

  constructor(floats: Float64Array) {
    this.#floats = floats
  }

  /** One more. */
  add(reason: DropReason): void {
    this.#floats[DROPS + numberOf(reason)]!++
  }

  /** How many. */
  of(reason: DropReason): number {
    return this.#floats[DROPS + numberOf(reason)]!
  }

  /** All of them together. */
  get total(): number {
    return DROP_REASONS.reduce((sum, reason) => sum + this.of(reason), 0)
  }
}

/** The counters of one worker; any thread may read them. */
export class RelayCounters {
  readonly drops: DropCounts
  readonly #floats: Float64Array

  constructor({ floats }: RelayMemory) {
    this.#floats = floats
    this.drops = new DropCounts(floats)
  }

  /** Datagrams and bytes of payload forwarded, a datagram that goes to two transceivers counting once. */
  get packetsUp(): number {
    return this.#floats[PACKETS_UP]!
  }
  get bytesUp(): number {
    return this.#floats[BYTES_UP]!
  }
  get packetsDown(): number {
    return this.#floats[PACKETS_DOWN]!
  }
  get bytesDown(): number {
    return this.#floats[BYTES_DOWN]!
  }

  /** Ufrags decoded, routes taken from the recovery store, unconfirmed flows pushed out of a full table. */
  get decodes(): number {
    return this.#floats[DECODES]!
  }
  get recoveries(): number {
    return this.#floats[RECOVERIES]!
  }
  get evictions(): number {
    return this.#floats[EVICTIONS]!
  }

  /** A datagram of so many bytes went to transceivers. */
  up(bytes: number): void {
    this.#floats[PACKETS_UP]!++
    this.#floats[BYTES_UP]! += bytes
  }

  /** A payload of so many bytes went to a client. */
  down(bytes: number): void {
    this.#floats[PACKETS_DOWN]!++
    this.#floats[BYTES_DOWN]! += bytes
  }

  decoded(): void {
    this.#floats[DECODES]!++
  }

  recovered(): void {
    this.#floats[RECOVERIES]!++
  }

  evicted(): void {
    this.#floats[EVICTIONS]!++
  }
}
