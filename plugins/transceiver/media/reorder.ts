/**
 * Puts a source's packets back into order: hands on what is next at once, holds what came early, and gives a
 * missing packet as long to come as others have been late by. A hole in the sequence numbers is loss; whether time passed without
 * one (DTX, RFC 7587 §3.1.3) the receiver of the packets sees from their timestamps. Pure: time is an input.
 */

import { ReorderWait } from './reorder-wait.ts'
import type { RtpHeader } from './rtp.ts'

/** How many packets are held at most, a power of two; with more the wait is over. */
const HELD = 32
/** A source that jumps by more than this begins anew (RFC 3550 A.1, MAX_DROPOUT and MAX_MISORDER). */
const MAX_AHEAD = 3000
const MAX_BEHIND = 100

/** A packet as it is handed on; reused, its bytes good only during the call. */
export interface OrderedPacket {
  payloadType: number
  marker: boolean
  timestamp: number
  bytes: Uint8Array
  start: number
  end: number
  /** Packets missing between the one before and this; -1 for the first of a source or after it began anew. */
  lostBefore: number
}

interface Slot extends OrderedPacket {
  full: boolean
  since: number
}

/** What became of a packet. `late` is one that came twice or after its wait was over. */
export type ReorderOutcome = 'ordered' | 'held' | 'late' | 'out-of-range'

const NOTHING = new Uint8Array(0)

/** Reorders one source. `reset` when another source takes its place. */
export class ReorderBuffer {
  readonly #deliver: (packet: OrderedPacket) => void
  /** Made when they are first needed, for most calls need none. */
  readonly #slots: Slot[] = Array.from({ length: HELD }, () => NO_SLOT)
  readonly #direct = emptySlot()
  #next = -1
  #lost = -1
  #held = 0
  #outlier = -1
  readonly #wait = new ReorderWait()
  /** The packets that were last given up on, from one to before another, and when they were first missed. */
  #gaveUpFrom = 0
  #gaveUpTo = 0
  #missedAt = 0

  constructor(deliver: (packet: OrderedPacket) => void) {
    this.#deliver = deliver
  }

  /** How many packets wait for one before them; while there are any, `advance` wants to be called. */
  get held(): number {
    return this.#held
  }

  /** Forgets everything, handing nothing on. */
  reset(): void {
    for (const slot of this.#slots) if (slot.full) slot.full = false
    this.#held = 0
    this.#begin(-1)
  }

  /** Takes a packet in; its payload is copied if it is held. */
  push(now: number, header: RtpHeader, bytes: Uint8Array): ReorderOutcome {
    const sequence = header.sequence
    if (this.#next < 0) {
      this.#begin(sequence)
      this.#wait.begin(now)
    }
    let ahead = ((sequence - this.#next) << 16) >> 16
    if (ahead > MAX_AHEAD || ahead < -MAX_BEHIND) {
      if (sequence !== this.#outlier) {
        this.#outlier = (sequence + 1) & 0xffff
        return 'out-of-range'
      }
      this.drain()
      this.#begin(sequence)
      ahead = 0
    }
    while (ahead >= HELD && this.#held > 0) ahead -= this.#skip()
    if (ahead >= HELD) {
      this.#lost += ahead
      this.#next = sequence
      ahead = 0
    }
    if (ahead < 0) {
      this.#cameLate(now, sequence)
      return 'late'
    }
    const slot = ahead === 0 ? this.#direct : this.#slotFor(sequence)
    if (slot.full) return 'late'
    slot.payloadType = header.payloadType
    slot.marker = header.marker
    slot.timestamp = header.timestamp
    if (ahead > 0) {
      hold(slot, now, bytes, header.payloadStart, header.payloadEnd)
      this.#held++
      return 'held'
    }
    if (this.#held > 0) this.#wait.came(now, now - this.#oldest())
    slot.bytes = bytes
    slot.start = header.payloadStart
    slot.end = header.payloadEnd
    this.#release(slot)
    slot.bytes = NOTHING
    this.#releaseRun()
    return 'ordered'
  }

  /** Gives up on what has been missing for too long. */
  advance(now: number): void {
    while (this.#held > 0 && now - this.#oldest() >= this.#wait.ms(now)) this.#skip()
  }

  /** Gives up on everything that is missing. */
  drain(): void {
    while (this.#held > 0) this.#skip()
  }

  #slotFor(sequence: number): Slot {
    const at = sequence & (HELD - 1)
    if (this.#slots[at] === NO_SLOT) this.#slots[at] = emptySlot()
    return this.#slots[at]!
  }

  #begin(sequence: number): void {
    this.#next = sequence
    this.#lost = -1
    this.#outlier = -1
  }

  /** Too late to be of use; not to show what the next one should be given. */
  #cameLate(now: number, sequence: number): void {
    const given = (this.#gaveUpTo - this.#gaveUpFrom) & 0xffff
    if (((sequence - this.#gaveUpFrom) & 0xffff) < given) this.#wait.came(now, now - this.#missedAt)
  }

  #oldest(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const slot of this.#slots) if (slot.full && slot.since < oldest) oldest = slot.since
    return oldest
  }

  /** Counts what is missing before the first held packet as lost and hands on from there; how far it went. */
  #skip(): number {
    const from = this.#next
    this.#missedAt = this.#oldest()
    this.#gaveUpFrom = from
    while (!this.#slots[this.#next & (HELD - 1)]!.full) {
      this.#next = (this.#next + 1) & 0xffff
      this.#lost++
    }
    this.#gaveUpTo = this.#next
    this.#releaseRun()
    return (this.#next - from) & 0xffff
  }

  #releaseRun(): void {
    for (;;) {
      const slot = this.#slots[this.#next & (HELD - 1)]!
      if (!slot.full) return
      slot.full = false
      this.#held--
      this.#release(slot)
    }
  }

  #release(slot: Slot): void {
    this.#next = (this.#next + 1) & 0xffff
    slot.lostBefore = this.#lost
    this.#lost = 0
    this.#deliver(slot)
  }
}

function hold(slot: Slot, now: number, bytes: Uint8Array, start: number, end: number): void {
  const length = end - start
  if (slot.bytes.length < length) slot.bytes = new Uint8Array(Math.max(length, 256))
  for (let i = 0; i < length; i++) slot.bytes[i] = bytes[start + i]!
  slot.start = 0
  slot.end = length
  slot.since = now
  slot.full = true
}

function emptySlot(): Slot {
  return {
    payloadType: 0,
    marker: false,
    timestamp: 0,
    bytes: NOTHING,
    start: 0,
    end: 0,
    lostBefore: 0,
    full: false,
    since: 0,
  }
}

/** In the place of a slot that was never needed; it is never full. */
const NO_SLOT: Slot = emptySlot()
