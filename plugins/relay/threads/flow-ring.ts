/**
 * What a worker's flows went through, on its way to the main thread: a bounded ring in shared memory, one writer, one
 * reader. A full ring takes no more, and what it leaves out is counted; openings, which anybody can cause, get half
 * of it. Writing allocates nothing.
 */

import { getAddress, putAddress } from '../pure/address-words.ts'
import { Decision, type FlowEvent } from '../pure/decision.ts'
import { FlowView, RouteView } from '../pure/flow-view.ts'
import { readSession, writeSession } from '../pure/session-words.ts'

/** Words of a record. */
const RECORD = 32
const HEADER = 16
const WRITTEN = 0
const READ = 1
const CALLED = 2
/** Records left out, by kind. */
const LOST = 4

const KIND = 0
const LOCAL = 1
const CLIENT = 2
const TRANSCEIVER = 7
const SESSION = 12
const ROUTE_AGE = 14
const IS_INCUMBENT = 15
/** The doubles, by their index in the record: when it was, and of a flow that ended what went through. */
const AT = 8
const PACKETS_UP = 9
const PACKETS_DOWN = 10
const BYTES_UP = 11
const BYTES_DOWN = 12
/** Behind the doubles. */
const CLUSTER = 26

const KINDS = ['opened', 'confirmed', 'refreshed', 'ended'] as const

/** What a record tells of: an event, or a flow's end. */
export type RingKind = (typeof KINDS)[number]

/** What the reader hears; both are used again. */
export interface RingReader {
  onEvent(now: number, decision: Decision): void
  /** A flow that has ended, with one of its live routes. */
  onEnded(now: number, flow: FlowView): void
}

/** A view of a ring; the writer and the reader have one each. */
export class FlowRing {
  readonly #words: Int32Array
  readonly #doubles: Float64Array
  readonly #capacity: number
  readonly #decision = new Decision()
  readonly #flow = new FlowView()
  readonly #route = new RouteView()

  /** New memory for so many records, a power of two. */
  static memory(records: number): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * (HEADER + records * RECORD))
  }

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory)
    this.#doubles = new Float64Array(memory)
    this.#capacity = (this.#words.length - HEADER) / RECORD
    this.#route.state = 'live'
    this.#flow.isConfirmed = true
    this.#flow.routes.push(this.#route)
  }

  /** How many records of a kind were left out. */
  lost(kind: RingKind): number {
    return this.#words[LOST + KINDS.indexOf(kind)]! >>> 0
  }

  /** Writes what a decision notes. True when the reader must be called: it has not been since it last read. */
  write(now: number, decision: Decision): boolean {
    const { event } = decision
    if (event === undefined) return false
    const at = this.#room(KINDS.indexOf(event), event === 'opened' ? this.#capacity / 2 : this.#capacity)
    if (at < 0) return false
    const words = this.#words
    words[at + LOCAL] = decision.local
    putAddress(words, at + CLIENT, decision.client)
    putAddress(words, at + TRANSCEIVER, decision.transceiver)
    writeSession(words, at + SESSION, decision.session)
    words[at + CLUSTER] = decision.cluster
    words[at + ROUTE_AGE] = decision.routeAgeMs
    words[at + IS_INCUMBENT] = decision.isIncumbent ? 1 : 0
    return this.#wrote(at, now)
  }

  /** Writes that a flow has ended, as one of its routes saw it. */
  writeEnd(now: number, flow: FlowView, route: RouteView): boolean {
    const at = this.#room(KINDS.indexOf('ended'), this.#capacity)
    if (at < 0) return false
    const words = this.#words
    words[at + LOCAL] = flow.local
    putAddress(words, at + CLIENT, flow.client)
    putAddress(words, at + TRANSCEIVER, route.transceiver)
    writeSession(words, at + SESSION, route.session)
    words[at + ROUTE_AGE] = route.ageMs(now)
    const doubles = this.#doubles
    doubles[at / 2 + PACKETS_UP] = flow.packetsUp
    doubles[at / 2 + PACKETS_DOWN] = flow.packetsDown
    doubles[at / 2 + BYTES_UP] = flow.bytesUp
    doubles[at / 2 + BYTES_DOWN] = flow.bytesDown
    return this.#wrote(at, now)
  }

  /** Hands over all that was written. */
  read(reader: RingReader): void {
    const words = this.#words
    Atomics.store(words, CALLED, 0)
    for (let read = words[READ]!; read !== Atomics.load(words, WRITTEN); ) {
      this.#hand(HEADER + (read & (this.#capacity - 1)) * RECORD, reader)
      read = (read + 1) | 0
      Atomics.store(words, READ, read)
    }
  }

  #hand(at: number, reader: RingReader): void {
    const words = this.#words
    const now = this.#doubles[at / 2 + AT]!
    const kind = KINDS[words[at + KIND]!]!
    if (kind === 'ended') reader.onEnded(now, this.#ended(now, at))
    else reader.onEvent(now, this.#event(kind, at))
  }

  #event(kind: FlowEvent, at: number): Decision {
    const words = this.#words
    const decision = this.#decision
    decision.event = kind
    decision.local = words[at + LOCAL]!
    getAddress(words, at + CLIENT, decision.client)
    getAddress(words, at + TRANSCEIVER, decision.transceiver)
    readSession(words, at + SESSION, decision.session)
    decision.cluster = words[at + CLUSTER]!
    decision.routeAgeMs = words[at + ROUTE_AGE]! >>> 0
    decision.isIncumbent = words[at + IS_INCUMBENT] === 1
    return decision
  }

  #ended(now: number, at: number): FlowView {
    const words = this.#words
    const doubles = this.#doubles
    const flow = this.#flow
    flow.local = words[at + LOCAL]!
    getAddress(words, at + CLIENT, flow.client)
    getAddress(words, at + TRANSCEIVER, this.#route.transceiver)
    readSession(words, at + SESSION, this.#route.session)
    this.#route.openedAt = now - words[at + ROUTE_AGE]!
    flow.packetsUp = doubles[at / 2 + PACKETS_UP]!
    flow.packetsDown = doubles[at / 2 + PACKETS_DOWN]!
    flow.bytesUp = doubles[at / 2 + BYTES_UP]!
    flow.bytesDown = doubles[at / 2 + BYTES_DOWN]!
    return flow
  }

  /** The first word of the next record, or -1 when there are so many unread. */
  #room(kind: number, limit: number): number {
    const words = this.#words
    const written = words[WRITTEN]!
    if (((written - Atomics.load(words, READ)) | 0) >= limit) {
      words[LOST + kind] = words[LOST + kind]! + 1
      return -1
    }
    const at = HEADER + (written & (this.#capacity - 1)) * RECORD
    words[at + KIND] = kind
    return at
  }

  #wrote(at: number, now: number): boolean {
    const words = this.#words
    this.#doubles[at / 2 + AT] = now
    Atomics.store(words, WRITTEN, (words[WRITTEN]! + 1) | 0)
    return Atomics.exchange(words, CALLED, 1) === 0
  }
}
