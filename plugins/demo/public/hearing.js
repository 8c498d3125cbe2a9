/**
 * Hears from levels alone when somebody speaks. Pure: time and levels are inputs, one every 10 ms or so. What it says is
 * dated back to when it was true: a beginning to the first loud sample, an end to the last.
 */

/** Below this, in decibels of full scale, there is silence as far as anybody hears. */
export const SILENCE_DB = -50

/** Loud for so long is speech; a click is shorter. */
const BEGIN_MS = 50
/** Quiet for so long in between, and it begins anew. */
const CLICK_GAP_MS = 40
/** Quiet for so long is an end, and no pause between two words. */
const END_MS = 400
/** A room's own noise may be as loud as this, and speech is so much louder. */
const FLOOR_DB = -60
const NOISIEST_DB = -35
const ABOVE_NOISE_DB = 10
const NOISE_RISES_DB_PER_MS = 0.003

/** One side's speech. `noisy`: it has a room round it, whose noise is learnt. */
export class Hearing {
  #noisy
  #noise = FLOOR_DB
  #candidateAt
  #at
  /** When it was last loud, or undefined. */
  loudAt
  /** Whether somebody speaks. */
  speaks = false

  constructor({ noisy }) {
    this.#noisy = noisy
  }

  /** Takes a level. Gives `{ type: 'begins' | 'ends', at }`, or nothing new. */
  hear(at, decibels) {
    this.#learn(at, decibels)
    if (decibels > Math.max(SILENCE_DB, this.#noise + ABOVE_NOISE_DB)) return this.#loud(at)
    if (this.loudAt === undefined) return undefined
    if (!this.speaks && at - this.loudAt > CLICK_GAP_MS) this.#candidateAt = undefined
    if (!this.speaks || at - this.loudAt < END_MS) return undefined
    this.speaks = false
    this.#candidateAt = undefined
    return { type: 'ends', at: this.loudAt }
  }

  #loud(at) {
    this.#candidateAt ??= at
    this.loudAt = at
    if (this.speaks || at - this.#candidateAt < BEGIN_MS) return undefined
    this.speaks = true
    return { type: 'begins', at: this.#candidateAt }
  }

  #learn(at, decibels) {
    const passed = at - (this.#at ?? at)
    this.#at = at
    if (!this.#noisy) return
    const risen = Math.min(NOISIEST_DB, this.#noise + passed * NOISE_RISES_DB_PER_MS)
    this.#noise = Math.max(FLOOR_DB, Math.min(risen, decibels))
  }
}
