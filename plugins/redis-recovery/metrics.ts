/** The plugin's metrics; the README lists them with their units. */

import { type Context, Observed } from '../../core/index.ts'
import type { FailedOutcome } from './fault.ts'
import type { Link } from './link.ts'
import type { RedisStore } from './store.ts'

/** How a command ended. `busy`: too many look-ups were under way; `away`: there was no connection to send it on. */
export type Outcome = 'ok' | 'unreadable' | 'busy' | 'away' | FailedOutcome

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]
const WRITES = [1, 2, 4, 8, 16, 32, 64, 128]

/** What is counted when it happens. */
export class Instruments {
  readonly #commands
  readonly #roundTrip
  readonly #batchSize

  constructor(meter: Context['meter']) {
    this.#commands = meter.createCounter('earshot.redis_recovery.commands', {
      description: 'Commands, by name and outcome',
      unit: '{command}',
    })
    this.#roundTrip = meter.createHistogram('earshot.redis_recovery.round_trip', {
      description: 'From asking Redis to its answer, or to giving up',
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    })
    this.#batchSize = meter.createHistogram('earshot.redis_recovery.batch_size', {
      description: 'Writes that were sent together',
      unit: '{write}',
      advice: { explicitBucketBoundaries: WRITES },
    })
  }

  ended(command: 'get' | 'set' | 'forget', outcome: Outcome): void {
    this.#commands.add(1, { command, outcome })
  }

  took(operation: 'get' | 'batch', ms: number): void {
    this.#roundTrip.record(ms / 1000, { operation })
  }

  batch(writes: number): void {
    this.#batchSize.record(writes)
  }
}

/** Registers what is looked at when metrics are collected; the result takes it back. */
export function observeStore(meter: Context['meter'], store: RedisStore, link: Link): () => void {
  const observed = new Observed(meter, 'earshot.redis_recovery')
  const connected = '1 while commands can be sent to Redis, 0 while they cannot'
  observed.gauge('connected', '1', connected, (result) => result.observe(link.isReady ? 1 : 0))
  observed.counter('outages', '{outage}', 'Times that Redis went away or refused', (result) =>
    result.observe(link.outage.count),
  )
  observed.upDownCounter('queued', '{write}', 'Writes that wait to be sent', (result) =>
    result.observe(store.queued),
  )
  observed.upDownCounter('look_ups_in_flight', '{lookup}', 'Look-ups that wait for an answer', (result) =>
    result.observe(store.inFlight),
  )
  observed.counter('drops', '{write}', 'Writes that were never sent, by reason', (result) => {
    for (const [reason, count] of Object.entries(store.dropped)) result.observe(count, { reason })
  })
  return () => observed.close()
}
