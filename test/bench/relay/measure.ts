/** One run over all relays, phase by phase. */

import type { Contender, Target } from './contenders.ts'
import type { Garbage } from './figures.ts'
import { NAMES } from './line-up.ts'
import type { LoadDriver } from './load-driver.ts'
import { FEW_FLOWS, type Plan } from './plan.ts'
import type { RelayUnderTest } from './relay-under-test.ts'
import { costs, delays, highestRates, mostFlows, phaseOf, type Run, warmUp } from './rounds.ts'
import { Sampler, Series } from './sampler.ts'

/** What was seen, and what our relay's threads collected meanwhile. */
export interface Measured {
  readonly run: Run
  /** Warmed up, with few flows that stay. */
  readonly few: Garbage
  /** With many, which open, are refreshed and expire. */
  readonly many: Garbage
}

/** Starts a relay on its processors. */
type Start = (contender: Contender) => Promise<RelayUnderTest>

/** Starts all and measures them. */
export async function measure(
  plan: Plan,
  load: LoadDriver,
  contenders: readonly Contender[],
  start: Start,
): Promise<Measured> {
  const run = newRun(plan, load)
  await using stack = new AsyncDisposableStack()
  const started = await Promise.allSettled(contenders.map(async (one) => stack.use(await start(one))))
  const relays = started.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  const named = (...names: string[]): RelayUnderTest[] =>
    relays.filter(({ contender }) => names.includes(contender.name))
  const [ours] = named(NAMES.ours)
  if (!ours) throw new Error('our relay has not the options that it is measured with')
  await warmUp(run, relays)
  const warm = garbageOf(ours)
  await phases(run, named, alone(load))
  const few = garbageOf(ours, warm)
  const { manyFlows, mostFlows: most } = run.plan
  const those = named(NAMES.c, NAMES.go, NAMES.ours, NAMES.dgram)
  const before = garbageOf(ours)
  if (manyFlows > 0) await costs(run, manyFlows, those, those)
  const many = garbageOf(ours, before)
  if (most > 0) await mostFlows(run, ours, stack.use(await start(ours.contender)))
  return { run, few, many }
}

async function phases(
  run: Run,
  named: (...names: string[]) => RelayUnderTest[],
  none: Target,
): Promise<void> {
  const { c, cCoalescing, cSegments, go, nginx, ours, coalescing, segments, eventLoop, dgram, twoWorkers } =
    NAMES
  const plain = named(c, go, nginx, ours, eventLoop, dgram)
  const moderate = [...plain, ...named(cCoalescing, coalescing)]
  const saturated = [...plain, ...named(cSegments, segments)]
  await costs(run, FEW_FLOWS, moderate, saturated)
  mustBeQuiet(run, named(c, ours))
  await highestRates(run, [...saturated, ...named(twoWorkers)])
  await delays(run, [none, ...named(c, go, nginx, ours, coalescing, dgram)])
}

/** Better to stop now than to print what the neighbours did. A quick run prints it, and says what it is. */
function mustBeQuiet({ plan, series }: Run, relays: readonly RelayUnderTest[]): void {
  if (plan.mayBeDisturbed) return
  for (const { contender } of relays) {
    for (const phase of ['moderate', 'saturated']) {
      if (series.hasClean(phaseOf(phase, FEW_FLOWS), contender.name)) continue
      throw new Error(
        `every sample of "${contender.name}", ${phase}, was disturbed: let the machine be quiet`,
      )
    }
  }
}

/** The transceiver without a relay: what is left of a round trip then is the load's own. */
function alone({ transceiver: port, pid }: LoadDriver): Target {
  return {
    contender: { name: NAMES.none, form: 'hex', cpus: 1, hasSeveralThreads: true },
    port,
    pid,
    forwarded: 0,
  }
}

function newRun(plan: Plan, load: LoadDriver): Run {
  const { warmMs, measureMs, retryUntilMs } = plan
  const sampler = new Sampler(load, { warmMs, measureMs, until: performance.now() + retryUntilMs })
  return {
    plan,
    sampler,
    series: new Series(),
    capacity: new Map(),
    highest: new Map(),
    grown: undefined,
  }
}

const NONE: Garbage = { scavenges: 0, markSweeps: 0, mainMarkSweeps: 0, forwarded: 0, full: [] }

/** What a relay's threads have collected since another moment. */
function garbageOf({ collections, forwarded }: RelayUnderTest, since: Garbage = NONE): Garbage {
  const markSweeps = collections.markSweeps - since.markSweeps
  const mainMarkSweeps = collections.mainMarkSweeps - since.mainMarkSweeps
  const full = markSweeps + mainMarkSweeps
  return {
    scavenges: collections.scavenges - since.scavenges,
    markSweeps,
    mainMarkSweeps,
    forwarded: forwarded - since.forwarded,
    full: full === 0 ? [] : collections.full.slice(-full),
  }
}
