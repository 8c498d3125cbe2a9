/** The phases of a run: relays take turns in each, so that whatever the machine does meanwhile, it does to all. */

import { median } from '../support/statistics.ts'
import type { Target } from './contenders.ts'
import { NAMES } from './line-up.ts'
import type { Sample } from './load-protocol.ts'
import { FEW_FLOWS, FLOOD_RATE, MODERATE_RATE, OVERLOAD, type Plan, TRAINS_FROM } from './plan.ts'
import { kept, type Sampler, type Series, type Wanted } from './sampler.ts'

/** A part of the datagrams that may be lost at the highest rate. */
const MOST_LOST = 0.001

/** Steps of the search, and when it ends. */
const STEP = 1.12
const CLOSE_ENOUGH = 1.03

/** The part of its highest rate at which a relay's delay is measured. */
const LIGHT = 0.3

/** What a run has seen so far. */
export interface Run {
  readonly plan: Plan
  readonly sampler: Sampler
  readonly series: Series
  /** Media datagrams a second, each way, that a flooded relay forwards; by its name. */
  readonly capacity: Map<string, number>
  /** The highest rates under the loss that is allowed, both ways together; by its name. */
  readonly highest: Map<string, { readonly rate: number; readonly isAtLeast: boolean }>
  /** Bytes of the resident set that each of the most flows took; unknown without them. */
  grown: number | undefined
}

/** Moderate load, and when all have settled a flood: code becomes hot, and what each can do at most becomes known. */
export async function warmUp(run: Run, relays: readonly Target[]): Promise<void> {
  for (const relay of relays) {
    await run.sampler.take(relay, { rate: MODERATE_RATE / 4, flows: FEW_FLOWS }, () => true)
    await run.sampler.take(relay, { rate: MODERATE_RATE, flows: FEW_FLOWS }, () => true)
  }
  for (const relay of relays) {
    learn(run, relay, (await run.sampler.take(relay, wanted(FLOOD_RATE, FEW_FLOWS))).sample)
  }
}

/** A relay can do what it was seen to do. */
function learn({ capacity }: Run, { contender: { name } }: Target, sample: Sample): void {
  capacity.set(name, Math.max(capacity.get(name) ?? 0, sample.forwarded / sample.seconds / 2))
}

/** CPU a packet at the moderate rate and saturated, in rounds. `moderate` and `saturated` are who takes part in each. */
export async function costs(
  run: Run,
  flows: number,
  moderate: readonly Target[],
  saturated: readonly Target[],
): Promise<void> {
  const all = [...new Set([...moderate, ...saturated])]
  for (let round = 0; round < run.plan.rounds; round++) {
    for (const relay of all) {
      if (moderate.includes(relay)) await once(run, 'moderate', relay, wanted(MODERATE_RATE, flows))
      if (saturated.includes(relay)) {
        learn(run, relay, await once(run, 'saturated', relay, overload(run, relay, flows)))
      }
    }
  }
}

/** What a relay is offered when it is to be saturated. */
function overload(run: Run, relay: Target, flows: number): Wanted {
  return wanted(run.capacity.get(relay.contender.name)! * OVERLOAD, flows)
}

/** Finds the highest rates, in passes. */
export async function highestRates(run: Run, relays: readonly Target[]): Promise<void> {
  const found = new Map<Target, Found[]>(relays.map((relay) => [relay, []]))
  for (let pass = 0; pass < run.plan.passes; pass++) {
    for (const relay of relays) {
      const earlier = found.get(relay)!
      const guess = earlier.at(-1)?.rate ?? run.capacity.get(relay.contender.name)!
      earlier.push(await search(run, relay, guess))
    }
  }
  for (const [relay, all] of found) {
    const rate = median(all.map((one) => one.rate))
    const isAtLeast = all.some((one) => one.rate === rate && one.isAtLeast)
    run.highest.set(relay.contender.name, { rate: rate * 2, isAtLeast })
  }
}

interface Found {
  readonly rate: number
  /** It was the load that could not do more. */
  readonly isAtLeast: boolean
}

/** Up or down from a first guess until one rate went well and one did not, then between them. */
async function search({ sampler, plan }: Run, relay: Target, guess: number): Promise<Found> {
  let good = 0
  let bad = Number.POSITIVE_INFINITY
  let isAtLeast = false
  let rate = guess
  for (let i = 0; i < plan.steps && bad / good > CLOSE_ENOUGH; i++) {
    const { sample } = await sampler.take(relay, wanted(rate, FEW_FLOWS), isWhole)
    if (isWhole(sample)) good = Math.max(good, rate)
    else {
      bad = Math.min(bad, rate)
      isAtLeast = !kept(sample)
    }
    if (bad === Number.POSITIVE_INFINITY) rate *= STEP
    else rate = good === 0 ? bad / STEP : Math.sqrt(good * bad)
  }
  return { rate: good === 0 ? rate : good, isAtLeast }
}

function isWhole(sample: Sample): boolean {
  return sample.loss < MOST_LOST && kept(sample)
}

/** Delays at 30% of what each can do, in rounds. Whose highest rate is not known gets as much as our relay. */
export async function delays(run: Run, relays: readonly Target[]): Promise<void> {
  const ours = run.highest.get(NAMES.ours)!
  for (let round = 0; round < run.plan.rounds; round++) {
    for (const relay of relays) {
      const { rate } = run.highest.get(relay.contender.name) ?? ours
      await once(run, 'light', relay, { rate: (rate / 2) * LIGHT, flows: FEW_FLOWS })
    }
  }
}

/** The same relay's costs with few flows in one process and the most in another, by turns. */
export async function mostFlows(run: Run, few: Target, most: Target): Promise<void> {
  const { mostFlows: flows, mostRounds } = run.plan
  const before = await once(run, 'empty', most, wanted(MODERATE_RATE, FEW_FLOWS))
  for (let round = 0; round < mostRounds; round++) {
    for (const [relay, count] of [
      [most, flows],
      [few, FEW_FLOWS],
    ] as const) {
      await once(run, 'moderate, in turns', relay, wanted(MODERATE_RATE, count))
      await once(run, 'saturated, in turns', relay, overload(run, few, count))
    }
  }
  const bytes = ({ residentBytes }: Sample): number => residentBytes
  const after = run.series.median(phaseOf('moderate, in turns', flows), most.contender.name, bytes)!
  run.grown = (after - before.residentBytes) / (flows - FEW_FLOWS)
}

function wanted(rate: number, flows: number): Wanted {
  return { rate, flows, train: rate >= TRAINS_FROM ? 2 : 1 }
}

async function once(run: Run, phase: string, relay: Target, what: Wanted): Promise<Sample> {
  const taken = await run.sampler.take(relay, what)
  run.series.add(phaseOf(phase, what.flows), relay.contender.name, taken)
  return taken.sample
}

/** The name of a phase with so many flows. */
export function phaseOf(phase: string, flows: number): string {
  return `${phase}, ${flows}`
}
