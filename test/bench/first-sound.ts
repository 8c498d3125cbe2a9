/** From the click on "Call" to the first sound in Chromium, stage by stage, on the demo page of an edge on this machine. */

import { startChromium } from '../browser/chromium.ts'
import { LOOPBACK_CONFIG } from '../browser/edge-config.ts'
import { startEdge } from '../browser/edge-process.ts'
import { play, TUNE, toWav } from '../browser/tune.ts'
import { until } from '../browser/until.ts'
import type { BenchFigure, BenchOptions, BenchResult } from './result.ts'
import { median } from './support/statistics.ts'

const STAGES = ['microphone', 'offer', 'answer', 'ice', 'dtls', 'channel', 'sound'] as const
type Stages = Record<(typeof STAGES)[number], number>

/** Runs it; about 12 s, or 6 when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  await using edge = await startEdge(LOOPBACK_CONFIG)
  await using chromium = await startChromium({ microphone: toWav(play(TUNE)) })
  const calls: Stages[] = []
  for (let i = 0; i < (quick ? 1 : 5); i++) {
    const page = await chromium.browser.newPage()
    await page.goto(edge.url)
    await page.click('#call')
    await until(page, 'earshotDemo.stages.sound && earshotDemo.stages.channel')
    calls.push(await page.evaluate<Stages>('earshotDemo.stages'))
    await page.click('#call')
    await until(page, `earshotDemo.state === 'idle'`)
    await page.close()
  }
  const figures = STAGES.map(
    (stage): BenchFigure => ({
      label: `click to ${stage}`,
      value: median(calls.map((call) => call[stage])),
      unit: 'ms',
      peers: [],
    }),
  )
  return { name: 'first-sound', figures }
}
