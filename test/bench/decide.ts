/**
 * What the relay's decisions cost, without any socket: a packet of media of a known flow each way at three sizes of the
 * table, a first packet that the sealed codec opens, and one that it refuses. CPU of this thread, medians of rounds.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { Address } from '../../core/index.ts'
import { Decision } from '../../plugins/relay/pure/decision.ts'
import { fromClient } from '../../plugins/relay/pure/from-client.ts'
import { relayMemory } from '../../plugins/relay/pure/relay-memory.ts'
import { SealedCodec } from '../../plugins/routing-codec/sealed/codec.ts'
import { bindingRequest } from '../stun-bytes.ts'
import type { BenchFigure, BenchOptions, BenchResult } from './result.ts'
import { client, cpuNs, emptyRelay, FilledRelay, transceiver } from './support/filled-relay.ts'
import { median } from './support/statistics.ts'

const SMALL = 1_000
const LARGE = 1_000_000
/** What the kernel and the loop spend on a packet besides, at the least: the C loop at saturation. */
const WHOLE_NS = 3_300

interface Cost {
  readonly flows: number
  readonly up: number
  readonly down: number
  readonly plain: number
  /** Garbage collections a million packets. */
  readonly collections: number
}

async function measureMedia(flows: number, packets: number, rounds: number): Promise<Cost> {
  const relay = new FilledRelay(flows)
  const times = Math.max(1, Math.round(packets / flows))
  const plain = relay.plain(times)
  const costs = { up: [] as number[], down: [] as number[], plain: [] as number[] }
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length
  })
  for (let i = -1; i < rounds; i++) {
    // Entries are handed over when the thread is free.
    const [before] = await turn(() => collections)
    observer.observe({ entryTypes: ['gc'] })
    const [up, down] = [relay.up(times), relay.down(times)]
    await turn(() => collections)
    observer.disconnect()
    const cost = plain()
    // The first round warms up.
    if (i < 0) collections = before ?? 0
    if (i < 0) continue
    costs.up.push(up)
    costs.down.push(down)
    costs.plain.push(cost)
  }
  return {
    flows,
    up: median(costs.up),
    down: median(costs.down),
    plain: median(costs.plain),
    collections: (collections * 1e6) / (2 * rounds * times * flows),
  }
}

async function turn<T>(ask: () => T): Promise<T[]> {
  await new Promise((resolve) => setTimeout(resolve, 20))
  return [ask()]
}

function mediaFigures(costs: readonly Cost[]): BenchFigure[] {
  const small = costs[0]!
  const figures = costs.flatMap((cost): BenchFigure[] => {
    const beside = (value: number) => [
      { label: 'a Map by text', value: cost.plain, ratio: value / cost.plain },
      ...(cost === small
        ? []
        : [{ label: `at ${small.flows} flows`, value: small.up, ratio: value / small.up }]),
    ]
    const at = `at ${cost.flows.toLocaleString('en')} flows`
    return [
      { label: `media from a client, ${at}`, value: cost.up, unit: 'ns', peers: beside(cost.up) },
      { label: `media to a client, ${at}`, value: cost.down, unit: 'ns', peers: beside(cost.down) },
    ]
  })
  const large = costs.at(-1)!
  const whole = (cost: Cost): number => WHOLE_NS + (cost.up + cost.down) / 2
  const ratio = whole(large) / whole(small)
  figures.push({
    label: `a packet with ${WHOLE_NS} ns for the kernel, most flows beside fewest`,
    value: whole(large),
    unit: 'ns',
    peers: [{ label: `at ${small.flows} flows`, value: whole(small), ratio }],
    target: '≤ 1.5×',
    met: ratio <= 1.5,
  })
  const collections = Math.max(...costs.map((cost) => cost.collections))
  figures.push({
    label: 'garbage collections a million packets',
    value: collections,
    unit: '',
    peers: [],
    target: '0',
    met: collections === 0,
  })
  return figures
}

/** Requests of distinct clients with distinct ufrags; forged ones have one character altered. Microseconds a packet. */
function measureFirst(count: number, isForged: boolean, rounds: number): { ours: number; codec: number } {
  const codec = new SealedCodec([{ id: 1, key: '000102030405060708090a0b0c0d0e0f' }])
  const session = new Uint8Array(8)
  const requests = Array.from({ length: count }, (_, n) => {
    const ufrag = codec.encode({ cluster: 1, address: transceiver(n % 64), session }, 'ufrag')
    // Behind version, key id and nonce, where only the tag gives it away.
    const altered = `${ufrag.slice(0, 40)}${ufrag[40] === 'a' ? 'b' : 'a'}${ufrag.slice(41)}`
    return bindingRequest(`${isForged ? altered : ufrag}:client`)
  })
  const costs = { ours: [] as number[], codec: [] as number[] }
  const decision = new Decision()
  const source = new Address()
  for (let i = -1; i < rounds; i++) {
    const relay = emptyRelay(codec, 65_536)
    const expected = isForged ? 'unroutable_ufrag' : undefined
    const start = cpuNs()
    for (let n = 0; n < count; n++) {
      // As many a second as the budget allows, from many networks.
      client(n * 40, source)
      fromClient(relay, (n / 9) | 0, 0, source, requests[n]!, 0, requests[n]!.length, decision)
      if (decision.reason !== expected) throw new Error(`${decision.reason} at ${n}`)
    }
    const middle = cpuNs()
    for (const request of requests) {
      const isOpened = codec.decode(request, 24, request.indexOf(0x3a, 24), 'ufrag') !== undefined
      if (isOpened === isForged) throw new Error('the codec thinks otherwise')
    }
    const end = cpuNs()
    // The first round warms up.
    if (i < 0) continue
    costs.ours.push((middle - start) / count / 1000)
    costs.codec.push((end - middle) / count / 1000)
  }
  return { ours: median(costs.ours), codec: median(costs.codec) }
}

function firstFigure(label: string, target: number, cost: { ours: number; codec: number }): BenchFigure {
  return {
    label,
    value: cost.ours,
    unit: 'µs',
    peers: [{ label: 'the codec alone', value: cost.codec, ratio: cost.ours / cost.codec }],
    target: `≤ ${target} µs`,
    met: cost.ours <= target,
  }
}

function memoryFigure(flows: number): BenchFigure {
  const value = relayMemory(flows).byteLength / flows
  return {
    label: `memory a flow, for ${flows.toLocaleString('en')}`,
    value,
    unit: 'bytes',
    peers: [],
    target: '≤ 256 bytes',
    met: value <= 256,
  }
}

/** Runs it; about a minute and a half, or 5 s when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const [packets, rounds, first] = quick ? [100_000, 1, 5_000] : [2_000_000, 5, 40_000]
  const costs: Cost[] = []
  for (const flows of quick ? [SMALL, 20_000] : [SMALL, 100_000, LARGE]) {
    costs.push(await measureMedia(flows, packets, rounds))
  }
  return {
    name: 'decide',
    figures: [
      ...mediaFigures(costs),
      firstFigure('a first packet is routed', 10, measureFirst(first, false, rounds)),
      firstFigure('a forged ufrag is refused', 2, measureFirst(first, true, rounds)),
      memoryFigure(65_536),
      memoryFigure(1_048_576),
    ],
  }
}
