/** What each of the relay's workers did: its packets, and of one in a thread its batches, its load and its deaths. */

import type { Context } from '../../core/index.ts'
import type { RelayWorker } from './relay-worker.ts'

/** Registers the metrics; the README lists them with their units. */
export function observeWorkers(meter: Context['meter'], workers: readonly RelayWorker[]): void {
  const packets = meter.createObservableCounter('earshot.relay.worker.packets', {
    description: 'Datagrams forwarded by a worker, both ways',
    unit: '{packet}',
  })
  packets.addCallback((result) => {
    for (const [i, { state }] of workers.entries()) {
      result.observe(state.counters.packetsUp + state.counters.packetsDown, { worker: i })
    }
  })
  observeThreads(meter, workers)
}

function observeThreads(meter: Context['meter'], workers: readonly RelayWorker[]): void {
  const batches = meter.createObservableCounter('earshot.relay.worker.batches', {
    description: 'Batches of datagrams that a worker received',
    unit: '{batch}',
  })
  const busy = meter.createObservableCounter('earshot.relay.worker.busy', {
    description: 'Time in which a worker did not wait',
    unit: 's',
  })
  const restarts = meter.createObservableCounter('earshot.relay.worker.restarts', {
    description: 'Threads of a worker that died or stood still, and were replaced',
    unit: '{thread}',
  })
  meter.addBatchObservableCallback(
    (result) => {
      for (const [worker, { thread }] of workers.entries()) {
        if (!thread) continue
        result.observe(batches, thread.batches, { worker })
        result.observe(busy, thread.busyMs / 1000, { worker })
        result.observe(restarts, thread.restarts, { worker })
      }
    },
    [batches, busy, restarts],
  )
}
