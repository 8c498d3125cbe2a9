/** How long everything takes: a full run about eleven minutes on a quiet machine, a quick one some seconds. */

/** The numbers of a run. */
export interface Plan {
  readonly rounds: number
  /** Passes of the search for the highest rate, and samples that each may take. */
  readonly passes: number
  readonly steps: number
  readonly warmMs: number
  readonly measureMs: number
  /** Milliseconds after which a disturbed sample is no longer taken again. */
  readonly retryUntilMs: number
  /** Flows of the second set, and of the comparison with a thousand; 0 leaves it out. */
  readonly manyFlows: number
  readonly mostFlows: number
  readonly mostRounds: number
  /** Starts that are timed. */
  readonly starts: number
  readonly decideTurns: number
  readonly mayBeDisturbed: boolean
}

/** The flows of the first set. */
export const FEW_FLOWS = 1000

/** Media datagrams a second from the clients. */
export const MODERATE_RATE = 40_000

/** Offered to a relay to see what it can do at most: more than any forwards. */
export const FLOOD_RATE = 250_000

/** A saturated relay is offered this much of what it can forward. */
export const OVERLOAD = 1.3

/** From this rate on the load sends trains of two, or it could not keep up. */
export const TRAINS_FROM = 90_000

const FULL: Plan = {
  rounds: 9,
  passes: 3,
  steps: 8,
  warmMs: 200,
  measureMs: 800,
  retryUntilMs: 9 * 60_000,
  manyFlows: 100_000,
  mostFlows: 1_000_000,
  mostRounds: 5,
  starts: 9,
  decideTurns: 9,
  mayBeDisturbed: false,
}

const QUICK: Plan = {
  rounds: 1,
  passes: 1,
  steps: 1,
  warmMs: 50,
  measureMs: 100,
  retryUntilMs: 0,
  manyFlows: 0,
  mostFlows: 0,
  mostRounds: 0,
  starts: 1,
  decideTurns: 1,
  mayBeDisturbed: true,
}

/** The plan of a run. */
export function planOf(quick: boolean): Plan {
  return quick ? QUICK : FULL
}
