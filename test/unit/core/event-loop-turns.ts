/** Turns of the event loop, counted, so that a test says how much is done in one without asking the clock. */

/** Keeps the thread busy for so many milliseconds. */
export function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Turns the event loop until something is so: in how many turns that was, and how much `count` grew at most in one. */
export async function turnsUntil(
  isSo: () => boolean,
  count: () => number,
): Promise<{ turns: number; most: number }> {
  let [turns, most, last] = [0, 0, count()]
  while (!isSo()) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
    const now = count()
    most = Math.max(most, now - last)
    last = now
  }
  return { turns, most }
}
