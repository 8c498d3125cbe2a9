/**
 * The relay's drain: it goes on as it is, new flows included, since load balancers are slow to hear that it leaves.
 * It is over when nothing has come from transceivers for a while, or at the deadline.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../core/index.ts'
import { QUIET_MS } from './pure/limits.ts'
import type { RelayState } from './pure/relay-state.ts'

const LOOK_MS = 250

/** Resolves when the relay may leave. A relay that carries nothing may at once. */
export async function drain(
  { flows, silence, counters }: RelayState,
  log: Context['log'],
  deadline: AbortSignal,
): Promise<void> {
  const isQuiet = (now: number): boolean => {
    silence.note(now, counters.packetsDown)
    return silence.lasts(now) >= QUIET_MS
  }
  if (isQuiet(performance.now())) return
  log.info({ flows: flows.confirmed }, 'relay goes on forwarding until its calls fall silent')
  while (!deadline.aborted) {
    await delay(LOOK_MS, undefined, { signal: deadline }).catch(() => {})
    if (isQuiet(performance.now())) return
  }
}
