/** The plugin's metrics; the README lists them with their units. */

import type { Context } from '../../core/index.ts'
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
  const connected = meter.createObservableGauge('earshot.redis_recovery.connected', {
    description: '1 while commands can be sent to Redis, 0 while they cannot',
    unit: '1',
  })
  const outages = meter.createObservableCounter('earshot.redis_recovery.outages', {
    description: 'Times that Redis went away or refused',
    unit: '{outage}',
  })
  const queued = meter.createObservableUpDownCounter('earshot.redis_recovery.queued', {
    description: 'Writes that wait to be sent',
    unit: '{write}',
  })
  const lookUps = meter.createObservableUpDownCounter('earshot.redis_recovery.look_ups_in_flight', {
    description: 'Look-ups that wait for an answer',
    unit: '{lookup}',
  })
  const drops = meter.createObservableCounter('earshot.redis_recovery.drops', {
    description: 'Writes that were never sent, by reason',
    unit: '{write}',
  })
  const instruments = [connected, outages, queued, lookUps, drops]
  const observe: Parameters<typeof meter.addBatchObservableCallback>[0] = (result) => {
    result.observe(connected, link.isReady ? 1 : 0)
    result.observe(outages, link.outage.count)
    result.observe(queued, store.queued)
    result.observe(lookUps, store.inFlight)
    for (const [reason, count] of Object.entries(store.dropped)) result.observe(drops, count, { reason })
  }
  meter.addBatchObservableCallback(observe, instruments)
  return () => meter.removeBatchObservableCallback(observe, instruments)
}
