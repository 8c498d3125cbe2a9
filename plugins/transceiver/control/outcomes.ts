/** How requests by call id went that crossed between transceivers, as counted. */

import type { Meter } from '@opentelemetry/api'

/** The closed set: first what became of those that were to be passed on, then of those that came to the control port. */
const OUTCOMES = [
  'passed',
  'unreachable',
  'silent',
  'unproven',
  'not_allowed',
  'busy',
  'served',
  'refused',
] as const

/** One of them. */
export type Outcome = (typeof OUTCOMES)[number]

/** Counters since the start. */
export type OutcomeCounters = Record<Outcome, number>

/** All at zero. */
export function outcomeCounters(): OutcomeCounters {
  return {
    passed: 0,
    unreachable: 0,
    silent: 0,
    unproven: 0,
    not_allowed: 0,
    busy: 0,
    served: 0,
    refused: 0,
  }
}

/** Registers the instrument that README.md lists. */
export function observeOutcomes(meter: Meter, counters: OutcomeCounters): void {
  meter
    .createObservableCounter('earshot.transceiver.control.requests', {
      unit: '{request}',
      description: 'Requests by call id that crossed between transceivers.',
    })
    .addCallback((result) => {
      for (const outcome of OUTCOMES) result.observe(counters[outcome], { outcome })
    })
}
