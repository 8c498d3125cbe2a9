/** What browser tests ask an edge that runs as a process of its own; see `../peers/edge-processes.ts`. */

import { setTimeout as delay } from 'node:timers/promises'
import { type EdgeProcess, startProcess } from '../peers/edge-processes.ts'

/** A running edge. It is stopped at the end of the scope: `await using`. */
export type Edge = EdgeProcess

/** Starts an edge from a config file and waits until it is ready. Rejects with what it printed when it stops before. */
export const startEdge = startProcess

/** What is left of calls in an edge. */
export interface Leftovers {
  readonly sessions: number
  readonly bound: number
  readonly flows: number
}

/** Counts the transceiver's sessions, what is bound to them (ufrags, addresses), and the relay's flows. */
export async function leftovers(edge: Edge): Promise<Leftovers> {
  const sessions = await edge.ask<{ total: number; bound: Record<string, number> }>('/transceiver/sessions')
  const flows = await edge.ask<{ confirmed: number; unconfirmed: number }>('/relay/flows')
  const bound = Object.values(sessions.bound).reduce((sum, count) => sum + count, 0)
  return { sessions: sessions.total, bound, flows: flows.confirmed + flows.unconfirmed }
}

/** Waits until an edge holds nothing of any call any more. Flows go 30 s after a call's last check. */
export async function untilEmpty(edge: Edge, withinMs = 45_000): Promise<void> {
  const end = performance.now() + withinMs
  for (;;) {
    const left = await leftovers(edge)
    if (Object.values(left).every((count) => count === 0)) return
    if (performance.now() > end)
      throw new Error(`after ${withinMs} ms the edge still holds ${JSON.stringify(left)}`)
    await delay(250)
  }
}
