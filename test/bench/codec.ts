/**
 * Transcoded calls a core: what the caller says is decoded for a bridge, what the bridge plays is encoded. Through the
 * media path, RTP in to RTP out, beside what the codec alone would allow; both in turns, medians of five.
 */

import { openEncoder } from '../../plugins/transceiver/media/opus-encoder.ts'
import { voice } from '../unit/plugins/transceiver/media/voice.ts'
import type { BenchFigure, BenchOptions, BenchResult } from './result.ts'
import { median } from './support/statistics.ts'
import { codecAlone, type Load, mediaPath, type Transcoder } from './support/transcoding.ts'

const TARGET = 0.9
const SLOT_S = 0.02

/** Ten seconds of speech without pauses, as a browser sends it. */
function speech(rate: Load['rate']): Uint8Array[] {
  const encoder = openEncoder(rate)
  const samples = voice(rate, 10, false)
  const length = rate * SLOT_S
  const packets: Uint8Array[] = []
  const into = new Uint8Array(1500)
  for (let at = 0; at + length <= samples.length; at += length) {
    const pcm = Int16Array.from(samples.subarray(at, at + length))
    packets.push(into.slice(0, encoder.encode(new Uint8Array(pcm.buffer), into, 0)))
  }
  encoder.close()
  return packets
}

/** Calls a core: seconds of audio that a second of CPU is enough for. */
async function turn(transcoder: Transcoder, { calls }: Load, from: number, slots: number): Promise<number> {
  const before = transcoder.sent
  const start = process.cpuUsage()
  for (let n = from; n < from + slots; n++) await transcoder.slot(n)
  const { user, system } = process.cpuUsage(start)
  const sent = transcoder.sent - before
  if (sent < 0.99 * calls * slots) throw new Error(`only ${sent} of ${calls * slots} packets came out`)
  return (sent * SLOT_S) / ((user + system) / 1e6)
}

async function measure(rate: Load['rate'], quick: boolean): Promise<BenchFigure> {
  const load = { rate, calls: quick ? 10 : 40, packets: speech(rate) }
  const slots = quick ? 20 : 80
  const turns = quick ? 1 : 5
  const [ours, codec] = [mediaPath(load), codecAlone(load)]
  const results = { ours: [] as number[], codec: [] as number[] }
  try {
    for (let i = 0; i <= turns; i++) {
      const mine = await turn(ours, load, i * slots, slots)
      const alone = await turn(codec, load, i * slots, slots)
      // The first turn warms up.
      if (i === 0) continue
      results.ours.push(mine)
      results.codec.push(alone)
    }
  } finally {
    ours.close()
    codec.close()
  }
  const [value, peer] = [median(results.ours), median(results.codec)]
  // Turn by turn, so that what else the machine does meanwhile meets both.
  const ratios = results.ours.map((mine, i) => mine / results.codec[i]!)
  const ratio = median(ratios)
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
  return {
    label: `transcoded at ${rate / 1000} kHz (ratio from turn to turn ${spread})`,
    value,
    unit: 'calls a core',
    peers: [{ label: 'the codec alone', value: peer, ratio }],
    target: `≥ ${TARGET}× the codec alone`,
    met: ratio >= TARGET,
  }
}

/** Runs it; about 20 s, or 2 when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  return { name: 'codec', figures: [await measure(16000, quick), await measure(24000, quick)] }
}
