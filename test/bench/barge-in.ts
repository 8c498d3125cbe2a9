/**
 * Barge-in: from when the first packet of speech leaves the caller until the last packet of the answer comes to it.
 *
 * That is the caller's packet through relay and transceiver, its decoding, the event up to the backend, the backend's
 * `speech_started` down, the flush, and whatever left meanwhile in steps of 20 ms. What a backend needs to decide that it
 * hears speech is its own: the scripted one takes the first 20 ms that are loud, within the event that brings them. Nor is
 * the cutting of speech into packets of 20 ms counted, which is the caller's. The edge is a process of its own; backend
 * and callers share another, whose work counts.
 */

import { loopbackWith } from '../browser/edge-config.ts'
import { startEdge } from '../browser/edge-process.ts'
import { whistle } from '../integration/support/tones.ts'
import { RealtimeBackend } from '../peers/realtime-backend.ts'
import { postTo } from '../peers/signaling.ts'
import type { BenchOptions, BenchResult } from './result.ts'
import { InterruptingCaller, type Voice } from './support/interrupting-caller.ts'
import { median, quantile } from './support/statistics.ts'

const TARGET_MS = 60
const USE = 'plugins/inference-bridge/openai-realtime/index.ts'

/** One packet of a whistle in mid-tone, and one of nothing. */
function voice(): Voice {
  const packets = whistle([{ hertz: 600, durationMs: 200 }])
  return { speech: packets[4]!, silence: Buffer.from([0x08]) }
}

/** Runs it; about 40 s, or 5 when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const [calls, times, turns] = quick ? [2, 2, 1] : [10, 10, 5]
  await using backend = await RealtimeBackend.start({
    speechMs: 20,
    // Four times as fast as speech. The caller asks for it; nothing is answered by itself.
    answer: () => ({ say: 'one two three four', ms: 4000, chunkMs: 200, everyMs: 50 }),
  })
  const input = { turn_detection: { create_response: false, silence_duration_ms: 200 } }
  const options = { url: backend.url, model: 'scripted', session: { audio: { input } } }
  await using config = await loopbackWith({ bridge: { use: USE, options } })
  await using edge = await startEdge(config.path)
  const post = postTo(new URL(edge.url).origin)
  const callers: InterruptingCaller[] = []
  const rounds: { p50: number; p95: number }[] = []
  try {
    for (let n = 0; n < calls; n++) callers.push(await InterruptingCaller.connect(post, voice()))
    // The first round warms up.
    for (let n = 0; n <= turns; n++) {
      const took = (await Promise.all(callers.map((caller) => interruptOften(caller, times)))).flat()
      if (n > 0) rounds.push({ p50: quantile(took, 0.5), p95: quantile(took, 0.95) })
    }
  } finally {
    for (const caller of callers) await caller.close()
  }
  const tails = rounds.map(({ p95 }) => p95)
  const value = median(tails)
  const spread = `${Math.min(...tails).toFixed(0)}–${Math.max(...tails).toFixed(0)}`
  return {
    name: 'barge-in',
    figures: [
      {
        label: 'speech begins to last packet of the answer, p50',
        value: median(rounds.map(({ p50 }) => p50)),
        unit: 'ms',
        peers: [],
      },
      {
        label: `p95, median of ${turns} rounds of ${calls * times} (from round to round ${spread})`,
        value,
        unit: 'ms',
        peers: [],
        target: `≤ ${TARGET_MS} ms`,
        met: value <= TARGET_MS,
      },
    ],
  }
}

async function interruptOften(caller: InterruptingCaller, times: number): Promise<number[]> {
  const took: number[] = []
  for (let n = 0; n < times; n++) took.push(await caller.interrupt())
  return took
}
