/** What a flood may do to a relay, and to the calls through it. */

import type { FloodReport } from './flooded-relay.ts'

/** Of a flood that a relay can bear. */
const MOST_LOST = 0.001
/** Kernel buffers are not the process's; what it has itself was made at its start. */
const MOST_GROWN = 64 * 1_048_576
/** A second's worth may have been saved up. */
const MOST_LOOK_UPS = 500 * 1.5

const percent = (part: number): string => `${(part * 100).toFixed(3)}%`
const mega = (bytes: number): string => (bytes / 1_048_576).toFixed(1)

/** Everything that a flood did and may not. */
export function faultsOf(report: FloodReport, mostLost = MOST_LOST): string[] {
  const faults: [boolean, string][] = [
    [
      report.wanted < Number.POSITIVE_INFINITY && report.loss >= mostLost,
      `calls lost ${percent(report.loss)}, and may lose ${percent(mostLost)}`,
    ],
    [report.lossAfter >= mostLost, `calls lost ${percent(report.lossAfter)} a second after its end`],
    [
      report.grown > MOST_GROWN,
      `memory grew by ${mega(report.grown)} MB, and may grow by ${mega(MOST_GROWN)}`,
    ],
    [
      report.lookUps > MOST_LOOK_UPS,
      `the store was asked ${Math.round(report.lookUps)} times a second, and may be ${MOST_LOOK_UPS}`,
    ],
    [report.answers > 0, 'somebody was answered'],
    [report.dropped === 0, 'none of it was read'],
  ]
  return faults.flatMap(([isWrong, text]) => (isWrong ? [text] : []))
}
