/**
 * The relay, beside a C loop, a Go relay, nginx stream and itself on node:dgram: CPU of a forwarded packet, highest rate,
 * delay, memory, garbage. One relay at a time has a core, a load of many clients another; docs/performance.md says how.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { allowedCpus } from '../../core/ffi/cpus.ts'
import { libc } from '../../core/ffi/libc.ts'
import { relayMemory } from '../../plugins/relay/pure/relay-memory.ts'
import { decisionCost } from './relay/decide.ts'
import { figuresOf } from './relay/figures.ts'
import { lineUp } from './relay/line-up.ts'
import { LoadDriver } from './relay/load-driver.ts'
import { measure } from './relay/measure.ts'
import { planOf } from './relay/plan.ts'
import { aheadOfOthers } from './relay/priority.ts'
import { MAX_FLOWS } from './relay/product.ts'
import { RelayUnderTest } from './relay/relay-under-test.ts'
import { startTime } from './relay/start-time.ts'
import type { BenchOptions, BenchResult } from './result.ts'
import { median } from './support/statistics.ts'

/** Runs it; about eleven minutes, or 15 s when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const plan = planOf(quick)
  const processors = processorsHere()
  using _ahead = aheadOfOthers()
  const folder = await mkdtemp(join(tmpdir(), 'earshot-relay-bench-'))
  try {
    const decision = decisionCost(plan.decideTurns)
    const { contenders, notes } = await lineUp(folder, quick)
    await using load = await LoadDriver.start(processors.load)
    const place = { folder, transceiver: load.transceiver }
    const startMs = median(await times(plan.starts, () => startTime(place)))
    const measured = await measure(plan, load, contenders, (contender) =>
      RelayUnderTest.start(contender, processors.relay.slice(0, contender.cpus), place),
    )
    const tableBytes = relayMemory(MAX_FLOWS).byteLength / MAX_FLOWS
    const { hasThreeCpus } = processors
    const { few, many } = measured
    const besides = { few, many, decision, startMs, hasThreeCpus, tableBytes }
    const { taken, disturbed } = measured.run.sampler
    return {
      name: 'relay',
      figures: figuresOf(measured.run, besides),
      notes: [
        ...(quick ? ['quick: a smoke test, not a measurement'] : []),
        machine(),
        ...notes,
        `${taken} samples, ${disturbed} of them disturbed`,
        ...few.full,
        ...many.full,
      ],
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A processor for the relay, one for the load; two for two workers, and the load's own then is another if there is one. */
function processorsHere() {
  const calls = libc()
  const here = calls ? allowedCpus(calls) : []
  if (here.length < 2) throw new Error('it needs 64-bit Linux, koffi and two processors')
  const hasThreeCpus = here.length > 2
  return { relay: here, load: here[hasThreeCpus ? 2 : 1]!, hasThreeCpus }
}

async function times<T>(count: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let i = 0; i < count; i++) results.push(await work())
  return results
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor'
  return `${availableParallelism()} × ${model}, Linux ${release()}, Node ${process.versions.node}`
}
