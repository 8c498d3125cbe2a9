/**
 * How many unconfirmed packets of a ufrag go out in a second, all workers of the relay together. A second of a ufrag
 * begins with a packet, and is the same for all: who begins one takes over the beginning of another worker's that is
 * not over. With seconds of their own they could take turns to begin anew, and each would let through as many.
 */

import { UNCONFIRMED_PER_SECOND } from './limits.ts'
import { UFRAG_SPENT, UFRAG_STATE, UFRAG_WINDOW_AT } from './records.ts'
import type { WorkerUfrags } from './worker-ufrags.ts'

const SPENT = 0xff << UFRAG_SPENT
const SECOND_MS = 1_000

/** Spends one packet of the ufrag that `words[at]` is the entry of; false when this second's are spent. */
export function spendUnconfirmed(
  now: number,
  words: Int32Array,
  at: number,
  others: readonly WorkerUfrags[],
): boolean {
  const state = words[at + UFRAG_STATE]!
  let begun = words[at + UFRAG_WINDOW_AT]!
  let spent = (state & SPENT) >>> UFRAG_SPENT
  if (!isWithin(now, begun, spent)) {
    begun = now
    spent = 0
  }
  if (spent >= UNCONFIRMED_PER_SECOND) return false
  let elsewhere = 0
  for (let i = 0; i < others.length; i++) {
    const other = others[i]!
    const there = other.find(words, at)
    const theirs = there === 0 ? 0 : other.spent(there)
    const since = there === 0 ? 0 : other.windowAt(there)
    if (!isWithin(now, since, theirs)) continue
    elsewhere += theirs
    // Its clock may be a batch ahead of this one, and what is this second here be over there.
    if (spent > 0 && ((since - begun) | 0) < SECOND_MS) continue
    begun = since
    spent = 0
  }
  if (spent + elsewhere >= UNCONFIRMED_PER_SECOND) return false
  words[at + UFRAG_WINDOW_AT] = begun
  words[at + UFRAG_STATE] = (state & ~SPENT) | ((spent + 1) << UFRAG_SPENT)
  return true
}

/** Whether a second in which something was spent is not over. Another worker's may begin a little later than now. */
function isWithin(now: number, begun: number, spent: number): boolean {
  return spent > 0 && Math.abs((now - begun) | 0) < SECOND_MS
}
