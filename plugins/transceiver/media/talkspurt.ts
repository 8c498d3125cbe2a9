/**
 * When queued audio leaves: a talkspurt begins once enough is queued, so that frames which come in real time have
 * 40 ms to be late in, and ends when nothing is left. The RTP timestamp follows the clock's slots, so silence
 * between talkspurts shows in it, and a talkspurt's packets follow each other without a gap. Pure.
 */

import { SLOT_MS } from './pacer.ts'
import { TICKS_PER_MS } from './receive-stats.ts'

/** What a frame that comes in real time may be late by. */
export const CUSHION_MS = 40
/** A slot in 48 kHz ticks. */
export const SLOT_TICKS = SLOT_MS * TICKS_PER_MS
/** How many slots a talkspurt's first frame waits at most for others. */
const PATIENCE = CUSHION_MS / SLOT_MS

/** Says when the next packet is due and where on the slots' time line it lies. */
export class Talkspurt {
  #head = 0
  #waited = 0
  #active = false
  #first = false

  /** True from a talkspurt's first packet until `end`. */
  get active(): boolean {
    return this.#active
  }

  /**
   * True when a packet should leave in `slot`. Ask again after each one: several short ones share a slot, and a
   * long one takes several. Asked once too often, it answers false and begins to wait for the next slot.
   */
  due(slot: number, queuedMs: number): boolean {
    const now = slot * SLOT_TICKS
    if (!this.#active) {
      if (queuedMs === 0) return false
      if (queuedMs < CUSHION_MS + SLOT_MS && this.#waited++ < PATIENCE) return false
      this.#active = true
      this.#first = true
      this.#head = Math.max(this.#head, now)
    }
    if (this.#head <= now - SLOT_TICKS) this.#head = now
    return this.#head < now + SLOT_TICKS
  }

  /** True when the next packet's time has come and not only its slot: with nothing queued, the talkspurt is over. */
  isOver(slot: number): boolean {
    return this.#head <= slot * SLOT_TICKS
  }

  /** A packet of so many ticks leaves; answers its place on the time line, in ticks. */
  advance(ticks: number): number {
    const at = this.#head
    this.#head += ticks
    return at
  }

  /** True once a talkspurt, for the marker of its first packet (RFC 3551 §4.1). */
  takeFirst(): boolean {
    const first = this.#first
    this.#first = false
    return first
  }

  /** Ends the talkspurt: the next frame begins one, with a cushion of its own. */
  end(): void {
    this.#active = false
    this.#waited = 0
  }
}
