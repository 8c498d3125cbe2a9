/** How long to wait before a server is tried again. Randomness is an input. */

const FIRST_MS = 100
const LONGEST_MS = 5_000

/**
 * Milliseconds before attempt `times` (1 is the first), doubling up to 5 s; `random` from 0 to 1 takes up to half of it
 * away, so that many relays do not come at once.
 */
export function backOff(times: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(times - 1, 16))
  return Math.round(full * (1 - random / 2))
}
