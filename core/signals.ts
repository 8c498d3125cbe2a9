/** What signals do to the process: the first asks it to stop, a second makes it. */

import { constants } from 'node:os'

const STOPPING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** A signal of those that stop a process. */
export type StopSignal = (typeof STOPPING)[number]

/**
 * A terminal gives Ctrl-C to every process of a group, and launchers pass theirs on as well: the same signal again
 * within this time, in milliseconds, is still the first.
 */
const ONE_AND_THE_SAME = 500

/** Calls `stop` on the first signal and `abort` on the second, with the exit code that belongs to it. */
export function onStopSignals(handlers: {
  stop(signal: StopSignal): void
  abort(signal: StopSignal, exitCode: number): void
}): void {
  let first: { signal: StopSignal; at: number } | undefined
  for (const signal of STOPPING) {
    process.on(signal, () => {
      const now = performance.now()
      if (!first) {
        first = { signal, at: now }
        handlers.stop(signal)
      } else if (signal !== first.signal || now - first.at > ONE_AND_THE_SAME) {
        handlers.abort(signal, 128 + constants.signals[signal])
      }
    })
  }
}
