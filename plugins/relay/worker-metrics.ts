/** What each of the relay's workers did: its packets, and of one in a thread its batches, its load and its deaths. */

import type { ObservableCallback } from '@opentelemetry/api'
import type { Observed } from '../../core/index.ts'
import type { RelayWorker, WorkerThread } from './relay-worker.ts'

/** Registers the metrics; the README lists them with their units. */
export function observeWorkers(observed: Observed, workers: readonly RelayWorker[]): void {
  observed.counter('worker.packets', '{packet}', 'Datagrams forwarded by a worker, both ways', (result) => {
    for (const [worker, { state }] of workers.entries()) {
      result.observe(state.counters.packetsUp + state.counters.packetsDown, { worker })
    }
  })
  const threads = (of: (thread: WorkerThread) => number): ObservableCallback => {
    return (result) => {
      for (const [worker, { thread }] of workers.entries()) if (thread) result.observe(of(thread), { worker })
    }
  }
  const batches = threads((thread) => thread.batches)
  observed.counter('worker.batches', '{batch}', 'Batches of datagrams that a worker received', batches)
  const busy = threads((thread) => thread.busyMs / 1000)
  observed.counter('worker.busy', 's', 'Time in which a worker did not wait', busy)
  const restarts = threads((thread) => thread.restarts)
  const replaced = 'Threads of a worker that died or stood still, and were replaced'
  observed.counter('worker.restarts', '{thread}', replaced, restarts)
}
