/**
 * When queued audio leaves: a talkspurt begins as soon as its cushion is queued, in the middle of a slot if need be,
 * and ends when nothing more has come in time. The RTP timestamp follows the clock's slots, so silence between
 * talkspurts shows in it, and a talkspurt's packets follow each other without a gap. Pure.
 *
 * Every `slot` here is an instant counted in slots: a whole number when the clock ticks, a fraction when the bridge has
 * given a frame in between.
 */

import { LATE_MS } from './cushion.ts'
import { SLOT_MS } from './pacer.ts'
import { TICKS_PER_MS } from './receive-stats.ts'

/** A slot in 48 kHz ticks. */
export const SLOT_TICKS = SLOT_MS * TICKS_PER_MS
/** A talkspurt that has fallen behind by more than this skips what it missed; by less, it catches up. */
const MOST_BEHIND = 2 * SLOT_TICKS

/** Says when the next packet is due and where on the slots' time line it lies. */
export class Talkspurt {
  #head = 0
  /** How late in its slot it began, and with it all its packets, in ticks. */
  #phase = 0
  /** When all that has left will have sounded to its end. */
  #end = 0
  #waitsSince = -1
  #active = false
  #begun = false
  #first = false

  /** True from a talkspurt's first packet until `end`. */
  get active(): boolean {
    return this.#active
  }

  /**
   * True when a packet should leave now. Ask again after each one: several short ones share a slot, and a long one
   * takes several.
   */
  due(slot: number, queuedMs: number, cushionMs: number): boolean {
    const begin = Math.floor(slot) * SLOT_TICKS
    if (!this.#active) {
      if (queuedMs === 0 || !this.#isReady(slot, queuedMs, cushionMs)) return false
      this.#active = true
      // What follows the last one without a gap begins nothing that the receiver could adapt to.
      this.#first = this.#head < begin || !this.#begun
      this.#begun = true
      this.#head = Math.max(this.#head, begin)
      this.#phase = Math.max(0, slot * SLOT_TICKS - this.#head)
      this.#waitsSince = -1
    }
    if (this.#head < begin - MOST_BEHIND) this.#head = begin
    return this.#head < begin + SLOT_TICKS
  }

  /** How long ago all that has left had sounded to its end; negative while it sounds. */
  silentMs(slot: number): number {
    return (slot * SLOT_TICKS - this.#end) / TICKS_PER_MS
  }

  /** True when nothing more is to be waited for: the talkspurt ends, with what little is left. */
  isOver(slot: number): boolean {
    return this.silentMs(slot) >= (this.#phase > 0 ? LATE_MS : 0)
  }

  /** A packet of so many ticks leaves, of sound or silence; answers its place on the time line, in ticks. */
  advance(ticks: number, sounds = true): number {
    const at = this.#head
    this.#head += ticks
    if (sounds) this.#end = this.#head + this.#phase
    return at
  }

  /** True once a talkspurt, for the marker of its first packet (RFC 3551 §4.1). */
  takeFirst(): boolean {
    const first = this.#first
    this.#first = false
    return first
  }

  /** What a talkspurt was to begin with is dropped: the next one waits for a cushion anew. */
  dropped(): void {
    this.#waitsSince = -1
  }

  /** Ends the talkspurt: the next frame begins one, with a cushion of its own. */
  end(): void {
    this.#active = false
    this.#waitsSince = -1
  }

  /** All of the cushion is queued, or it has been waited for: what is there may be all there is. */
  #isReady(slot: number, queuedMs: number, cushionMs: number): boolean {
    if (queuedMs >= cushionMs + SLOT_MS) return true
    if (this.#waitsSince < 0) this.#waitsSince = slot
    // Less than a slot's worth is waited for without a cushion, too: it would leave filled up with silence.
    const patienceMs = Math.max(cushionMs, queuedMs < SLOT_MS ? SLOT_MS : 0)
    // The clock asks at whole slots alone: the nearest one is near enough.
    const near = Number.isInteger(slot) ? SLOT_MS / 2 : 0
    return (slot - this.#waitsSince) * SLOT_MS + near >= patienceMs
  }
}
