/** The figures of a run, with their targets. Pure. */

import type { BenchFigure } from '../result.ts'
import type { DecisionCost } from './decide.ts'
import { atLeast, atMost, beside, limited, type Of } from './judges.ts'
import { NAMES } from './line-up.ts'
import type { Sample } from './load-protocol.ts'
import { FEW_FLOWS, MODERATE_RATE } from './plan.ts'
import type { Run } from './rounds.ts'
import { phaseOf } from './rounds.ts'
import { nsPerPacket } from './sampler.ts'

const { c: C, go: GO, ours: OURS } = NAMES

/** What the threads of our relay collected while it forwarded so many datagrams. */
export interface Garbage {
  readonly scavenges: number
  /** Full collections of the threads that forward, and of the main thread, which does not. */
  readonly markSweeps: number
  readonly mainMarkSweeps: number
  readonly forwarded: number
  /** The full collections, as Node prints them. */
  readonly full: readonly string[]
}

/** What else was measured. */
export interface Besides {
  readonly decision: DecisionCost
  /** Milliseconds from the start to the bound socket. */
  readonly startMs: number
  /** With few flows that stay, and with many that come and go. */
  readonly few: Garbage
  readonly many: Garbage
  /** The processors that two workers had were not the load's as well. */
  readonly hasThreeCpus: boolean
  /** Bytes of a relay's tables for each flow that they have room for. */
  readonly tableBytes: number
}

/** All of them; what could not be measured is left out. */
export function figuresOf(run: Run, besides: Besides): BenchFigure[] {
  return [
    ...[FEW_FLOWS, run.plan.manyFlows].flatMap((flows) => cpuFigures(run, flows)),
    ...variantFigures(run),
    ...rateFigures(run, besides),
    ...delayFigures(run),
    ...memoryFigures(run, besides),
    ...collectionFigures(run, besides),
    ...decisionFigures(besides),
  ]
}

function medianOf(run: Run, phase: string, flows: number, of: (sample: Sample) => number): Of {
  return (name) => run.series.median(phaseOf(phase, flows), name, of)
}

function cpuFigures(run: Run, flows: number): BenchFigure[] {
  const others = [C, GO, NAMES.nginx, NAMES.eventLoop, NAMES.dgram]
  const at = `${thousands(flows)} flows`
  const rate = thousands(MODERATE_RATE)
  return [
    ...beside(
      `CPU of a packet, ${at}, ${rate}/s`,
      'ns',
      medianOf(run, 'moderate', flows, nsPerPacket),
      OURS,
      others,
      atMost(1.1, C, true),
    ),
    ...beside(
      `CPU of a packet, ${at}, saturated`,
      'ns',
      medianOf(run, 'saturated', flows, nsPerPacket),
      OURS,
      others,
      atMost(1.05, C, true),
    ),
  ]
}

function variantFigures(run: Run): BenchFigure[] {
  const { coalescing, segments, cCoalescing, cSegments } = NAMES
  const moderate = medianOf(run, 'moderate', FEW_FLOWS, nsPerPacket)
  const saturated = medianOf(run, 'saturated', FEW_FLOWS, nsPerPacket)
  const rate = thousands(MODERATE_RATE)
  return [
    ...beside(
      `CPU of a packet with coalescing, ${rate}/s`,
      'ns',
      moderate,
      coalescing,
      [C, cCoalescing, OURS],
      atMost(0.65, C),
    ),
    ...beside('CPU of a packet with segments, saturated', 'ns', saturated, segments, [C, cSegments, OURS]),
  ]
}

function rateFigures(run: Run, { hasThreeCpus }: Besides): BenchFigure[] {
  const highest: Of = (name) => run.highest.get(name)?.rate
  const { segments, cSegments, nginx, dgram, twoWorkers, eventLoop } = NAMES
  const bounded = (label: string, name: string): string =>
    run.highest.get(name)?.isAtLeast ? `${label} (at least: the load ends there)` : label
  const two = hasThreeCpus ? 'two workers on two cores' : 'two workers on two cores, one of them the load’s'
  return [
    ...beside(bounded('highest rate under 0.1% loss', OURS), 'packets/s', highest, OURS, [
      C,
      GO,
      nginx,
      eventLoop,
      dgram,
    ]),
    ...beside(
      bounded('highest rate with segments', segments),
      'packets/s',
      highest,
      segments,
      [C, cSegments, OURS],
      atLeast(1.15, C),
    ),
    ...beside(`highest rate, ${two}`, 'packets/s', highest, twoWorkers, [OURS]),
  ]
}

function delayFigures(run: Run): BenchFigure[] {
  const others = [C, GO, NAMES.nginx, NAMES.coalescing, NAMES.dgram]
  const of = (quantile: 'p50' | 'p99'): Of => medianOf(run, 'light', FEW_FLOWS, (sample) => sample[quantile])
  const added =
    (quantile: 'p50' | 'p99'): Of =>
    (name) => {
      const [whole, bare] = [of(quantile)(name), of(quantile)(NAMES.none)]
      return whole === undefined || bare === undefined ? undefined : Math.max(0, whole - bare)
    }
  return [
    ...beside('round trip at 30% load, p50', 'µs', of('p50'), OURS, [...others, NAMES.none], atMost(1.15, C)),
    ...beside('of that added by the relay, p50', 'µs', added('p50'), OURS, others),
    ...beside('round trip at 30% load, p99', 'µs', of('p99'), OURS, [...others, NAMES.none]),
    ...beside('of that added by the relay, p99', 'µs', added('p99'), OURS, others),
  ]
}

function memoryFigures(run: Run, { tableBytes }: Besides): BenchFigure[] {
  const { mostFlows } = run.plan
  const others = [C, GO, NAMES.nginx, NAMES.dgram]
  const resident = medianOf(run, 'moderate', FEW_FLOWS, ({ residentBytes }) => residentBytes / 2 ** 20)
  const figures = beside(`resident memory, ${thousands(FEW_FLOWS)} flows`, 'MB', resident, OURS, others)
  figures.push(limited('tables, a flow', tableBytes, 'bytes', 256))
  if (run.grown === undefined) return figures
  const label = `resident memory, a flow of ${thousands(mostFlows)}`
  figures.push(limited(label, run.grown, 'bytes', 256))
  return [...figures, ...['moderate', 'saturated'].flatMap((phase) => mostFigure(run, phase))]
}

/** The cost with the most flows beside that with few, both of our relay. */
function mostFigure(run: Run, phase: string): BenchFigure[] {
  const few = `${thousands(FEW_FLOWS)} flows`
  const of: Of = (name) =>
    medianOf(run, `${phase}, in turns`, name === few ? FEW_FLOWS : run.plan.mostFlows, nsPerPacket)(OURS)
  const rate = phase === 'moderate' ? `${thousands(MODERATE_RATE)}/s` : 'saturated'
  const label = `CPU of a packet, ${thousands(run.plan.mostFlows)} flows, ${rate}`
  return beside(label, 'ns', of, OURS, [few], atMost(1.5, few))
}

function collectionFigures({ plan }: Run, { few, many }: Besides): BenchFigure[] {
  const millions = few.forwarded / 1e6
  const label = `full collections where packets are forwarded, in ${millions.toFixed(0)} million`
  const figures: BenchFigure[] = [
    limited('scavenges, a million packets', few.scavenges / millions, '', 20),
    { label, value: few.markSweeps, unit: '', peers: [], target: 'none', met: few.markSweeps === 0 },
    {
      label: 'full collections of the main thread meanwhile',
      value: few.mainMarkSweeps,
      unit: '',
      peers: [],
    },
  ]
  if (many.forwarded === 0) return figures
  const meanwhile = `while ${thousands(plan.manyFlows)} flows come and go`
  return [
    ...figures,
    {
      label: `scavenges, a million packets, ${meanwhile}`,
      value: (many.scavenges * 1e6) / many.forwarded,
      unit: '',
      peers: [],
    },
    { label: `full collections ${meanwhile}`, value: many.markSweeps, unit: '', peers: [] },
  ]
}

function decisionFigures({ decision: { first, forged }, startMs }: Besides): BenchFigure[] {
  return [
    limited('routing a first packet', first, 'µs', 10),
    limited('refusing a forged ufrag', forged, 'µs', 2),
    limited('socket open after start', startMs, 'ms', 300),
  ]
}

function thousands(value: number): string {
  return value.toLocaleString('en')
}
