/**
 * Which unknown clients are looked up in the recovery store: so many a second, one at a time for an
 * address, and a fruitless one is not repeated for a while. Fixed in size; asking allocates nothing. Time is an input.
 */

import { Address } from '../../../core/index.ts'
import { LOOK_UPS_PER_SECOND } from './limits.ts'

const SLOTS = 4_096
const WAYS = 2

/** One look-up that is under way, or one that is not to be repeated yet. */
export class LookUp {
  readonly client = new Address()
  local = -1
  underWay = false
  /** When it may be made again. */
  until = Number.NEGATIVE_INFINITY
}

/** The look-ups of one worker. */
export class LookUps {
  readonly #seed: number
  readonly #slots: LookUp[] = Array.from({ length: SLOTS }, () => new LookUp())
  #windowAt = Number.NEGATIVE_INFINITY
  #started = 0

  /** `seed` is secret, so that nobody can aim at another's slot. */
  constructor(seed: number) {
    this.#seed = seed
  }

  /** Begins a look-up for a client at a socket, to be ended by `end`; undefined when none may begin now. */
  begin(now: number, local: number, client: Address): LookUp | undefined {
    if (now - this.#windowAt >= 1_000) {
      this.#windowAt = now
      this.#started = 0
    }
    if (this.#started >= LOOK_UPS_PER_SECOND) return undefined
    const slot = this.#freeSlot(now, local, client)
    if (slot === undefined) return undefined
    this.#started++
    slot.client.copy(client)
    slot.local = local
    slot.underWay = true
    return slot
  }

  /** The look-up is over, and is not repeated for `pauseMs`. */
  end(now: number, lookUp: LookUp, pauseMs: number): void {
    lookUp.underWay = false
    lookUp.until = now + pauseMs
  }

  /** A slot for this client unless it has one in use; the one that is free soonest. */
  #freeSlot(now: number, local: number, client: Address): LookUp | undefined {
    const first = (client.hash(this.#seed ^ local) & (SLOTS / WAYS - 1)) * WAYS
    let free: LookUp | undefined
    for (let i = first; i < first + WAYS; i++) {
      const slot = this.#slots[i]!
      const isOurs = slot.local === local && slot.client.equals(client)
      if (isOurs && (slot.underWay || slot.until > now)) return undefined
      if (!slot.underWay && (free === undefined || isOurs || slot.until < free.until)) free = slot
    }
    return free
  }
}
