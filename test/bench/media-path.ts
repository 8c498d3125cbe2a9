/**
 * The edge's own share of a turn: from when the last packet of a caller's speech leaves the caller until the first packet
 * of the answer comes to it, behind a backend that answers at once.
 *
 * That is the packet through relay and transceiver, its decoding, the bridge up to the backend and down again, the
 * answer's first frame encoded and out. Backend and callers share a process whose work counts too; what a backend needs to
 * know that the turn is over, and to think, is its own. Beside it: how long the SDP answer takes while the backend takes
 * half a second to accept, against one that accepts at once; and ten minutes of audio that come in bursts of 2 s.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { loopbackWith } from '../browser/edge-config.ts'
import { startEdge } from '../browser/edge-process.ts'
import { whistle } from '../integration/support/tones.ts'
import { TestClient } from '../peers/client.ts'
import { type Post, postTo } from '../peers/signaling.ts'
import { onTick } from '../peers/ticker.ts'
import type { BenchFigure, BenchOptions, BenchResult } from './result.ts'
import { startAnsweringBackend } from './support/answering-backend.ts'
import { burstGaps } from './support/bursts.ts'
import { median, quantile } from './support/statistics.ts'

const P50_MS = 10
const P95_MS = 25
const PACKET_MS = 20
/** An answer is over, and the line silent, this long after a turn. */
const TURN_MS = 700
const LATE_MS = 10_000
/** How much longer the SDP answer may take than beside a backend that accepts at once. */
const OFFER_RATIO = 1.25
const SLOW_MS = 500

const SILENCE = Buffer.from([0x08])

/** A caller who talks all the time, says something loud when asked, and hears when the answer begins. */
class TurnCaller {
  readonly #client: TestClient
  readonly #speech: Buffer
  readonly #stop: () => void
  readonly #startedAt = performance.now()
  #sent = 0
  #speaks = false
  #spokeAt = 0
  #heard: ((ms: number) => void) | undefined

  private constructor(client: TestClient, speech: Buffer) {
    this.#client = client
    this.#speech = speech
    const { audio } = client
    const push = audio.push.bind(audio)
    audio.push = (packet) => {
      if (this.#spokeAt > 0) this.#heard?.(performance.now() - this.#spokeAt)
      push(packet)
    }
    this.#stop = onTick((now) => this.#tick(now))
  }

  static async connect(post: Post, speech: Buffer): Promise<TurnCaller> {
    return new TurnCaller(await TestClient.connect(post, { keep: false }), speech)
  }

  /** One turn: the milliseconds from the last packet of speech to the first of the answer. */
  async turn(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#heard = resolve
    this.#speaks = true
    const late = setTimeout(() => reject(new Error('an answer never came')), LATE_MS)
    try {
      return await promise
    } finally {
      clearTimeout(late)
      this.#heard = undefined
      this.#spokeAt = 0
    }
  }

  async close(): Promise<void> {
    this.#stop()
    await this.#client.close()
  }

  #tick(now: number): void {
    for (const due = (now - this.#startedAt) / PACKET_MS; this.#sent < due; this.#sent++) {
      if (this.#speaks) this.#spokeAt = performance.now()
      this.#client.sendAudio(this.#speaks ? this.#speech : SILENCE)
      this.#speaks = false
    }
  }
}

/** Turns of all callers, each at a moment of its own. */
async function round(callers: readonly TurnCaller[], turns: number): Promise<number[]> {
  const took = await Promise.all(
    callers.map(async (caller, n) => {
      const mine: number[] = []
      await delay((TURN_MS / callers.length) * n)
      for (let i = 0; i < turns; i++) {
        mine.push(await caller.turn())
        await delay(TURN_MS)
      }
      return mine
    }),
  )
  return took.flat()
}

async function share(quick: boolean): Promise<BenchFigure[]> {
  const [calls, turns, rounds] = quick ? [4, 1, 1] : [50, 4, 5]
  await using backend = await startAnsweringBackend()
  await using edge = await edgeWith(backend.url)
  const speech = whistle([{ hertz: 600, durationMs: 200 }])[4]!
  const callers: TurnCaller[] = []
  const results: { p50: number; p95: number }[] = []
  try {
    for (let n = 0; n < calls; n++) callers.push(await TurnCaller.connect(edge.post, speech))
    // The first round warms up.
    for (let n = 0; n <= rounds; n++) {
      const took = await round(callers, turns)
      if (n > 0) results.push({ p50: quantile(took, 0.5), p95: quantile(took, 0.95) })
    }
  } finally {
    for (const caller of callers) await caller.close()
  }
  const figure = (part: 'p50' | 'p95', target: number): BenchFigure => {
    const values = results.map((one) => one[part])
    const value = median(values)
    const spread = `${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)}`
    return {
      label: `last packet in to first frame out, ${calls} calls, ${part} (from round to round ${spread})`,
      value,
      unit: 'ms',
      peers: [],
      target: `≤ ${target} ms`,
      met: value <= target,
    }
  }
  return [figure('p50', P50_MS), figure('p95', P95_MS)]
}

/** How long offers take, with a backend that takes `acceptMs` to accept. */
async function offers(acceptMs: number, count: number): Promise<number> {
  await using backend = await startAnsweringBackend(acceptMs)
  await using edge = await edgeWith(backend.url)
  const took: number[] = []
  const timed: Post = async (sdp) => {
    const start = performance.now()
    const answer = await edge.post(sdp)
    took.push(performance.now() - start)
    return answer
  }
  for (let n = 0; n < count; n++) {
    const client = await TestClient.connect(timed, { keep: false })
    await client.close()
  }
  return median(took)
}

async function opening(quick: boolean): Promise<BenchFigure> {
  const count = quick ? 3 : 25
  const value = await offers(SLOW_MS, count)
  const peer = await offers(0, count)
  const ratio = value / peer
  return {
    label: `SDP answer while the bridge takes ${SLOW_MS} ms to open`,
    value,
    unit: 'ms',
    peers: [{ label: 'opens at once', value: peer, ratio }],
    target: `≤ ${OFFER_RATIO}×`,
    met: ratio <= OFFER_RATIO,
  }
}

async function edgeWith(url: string): Promise<AsyncDisposable & { readonly post: Post }> {
  const use = 'plugins/inference-bridge/websocket/index.ts'
  const config = await loopbackWith({ bridge: { use, options: { url, rate: 24_000 } } })
  const edge = await startEdge(config.path)
  return {
    post: postTo(new URL(edge.url).origin),
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]()
      await config[Symbol.asyncDispose]()
    },
  }
}

/** Runs it; about 60 s, or 10 when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const gaps = burstGaps(quick ? 20 : 600)
  const figures: BenchFigure[] = [
    ...(await share(quick)),
    await opening(quick),
    {
      label: `gaps in ${quick ? '20 s' : '10 minutes'} of audio that comes in bursts of 2 s, each up to 1 s late`,
      value: gaps,
      unit: '',
      peers: [],
      target: '0',
      met: gaps === 0,
    },
  ]
  return { name: 'media-path', figures }
}
