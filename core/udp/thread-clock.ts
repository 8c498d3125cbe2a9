/**
 * One clock for all threads of a process. `performance.now()` counts from when its own thread began, so that a time
 * which one thread wrote means nothing to another; the system's monotonic clock is the same for all.
 */

/** What to add to this thread's `performance.now()` to get the system's monotonic clock. Milliseconds. */
export function clockOffset(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6 - performance.now()
}
