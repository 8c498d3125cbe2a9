/** The time of day for what is told to people and machines elsewhere, such as spans; never for deciding anything. */

/** A jump of the system's clock larger than this is followed. Milliseconds. */
const JUMP_MS = 20

let offset = performance.timeOrigin

/**
 * The time of day, in milliseconds since 1970 with fractions, at `now` on the monotonic clock (`performance.now()`).
 * Times of one process are in the order in which they happened, unless the system's clock was set in between.
 */
export function wallTime(now: number): number {
  const measured = Date.now() - performance.now()
  if (Math.abs(measured - offset) > JUMP_MS) offset = measured
  return offset + now
}
