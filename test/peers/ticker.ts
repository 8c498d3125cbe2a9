/** One timer for all clients of a process: a thousand of them must not cost a thousand timers. */

/** How often clients' timers are looked at, in milliseconds. */
export const TICK_MS = 20

const members = new Set<(now: number) => void>()
let timer: NodeJS.Timeout | undefined

/** Calls `run` every 20 ms until what it answers is called. */
export function onTick(run: (now: number) => void): () => void {
  members.add(run)
  timer ??= setInterval(tickAll, TICK_MS)
  return () => {
    members.delete(run)
    if (members.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tickAll(): void {
  const now = performance.now()
  for (const run of members) run(now)
}
