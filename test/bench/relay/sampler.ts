/**
 * Takes samples of relays, again when one was disturbed: the load did not have its processor, or the relay waited for
 * its own, or the hypervisor took time away. What is disturbed three times is kept and marked.
 */

import { median } from '../support/statistics.ts'
import type { Target } from './contenders.ts'
import type { LoadDriver } from './load-driver.ts'
import type { Sample } from './load-protocol.ts'

/** The load never sleeps, so it has nearly all of its processor. */
const LEAST_LOAD_SHARE = 0.97
const MOST_WAIT_SHARE = 0.05
const MOST_STOLEN_SHARE = 0.02
const TRIES = 3

/** A part of datagrams that may be skipped before the load counts as overloaded. */
const MOST_SKIPPED = 0.002

/** A sample, and whether nothing disturbed it. */
export interface Taken {
  readonly sample: Sample
  readonly isClean: boolean
}

/** What is to be measured. */
export interface Wanted {
  readonly rate: number
  readonly flows: number
  /** Datagrams of a client at once; 1 unless the load could not keep up. */
  readonly train?: number
}

/** How long samples are, and until when they may be taken again. */
export interface SamplerOptions {
  readonly warmMs: number
  readonly measureMs: number
  readonly until: number
}

/** Takes samples, one at a time. */
export class Sampler {
  taken = 0
  disturbed = 0
  readonly #load: LoadDriver
  readonly #options: SamplerOptions

  constructor(load: LoadDriver, options: SamplerOptions) {
    this.#load = load
    this.#options = options
  }

  /** Takes one. It is good enough at once when `isGood` says so, disturbed or not. */
  async take(relay: Target, wanted: Wanted, isGood = (_: Sample): boolean => false): Promise<Taken> {
    let best = await this.#once(relay, wanted)
    // Two workers on two processors have the load for a neighbour: again would be no better.
    const tries = relay.contender.cpus > 1 ? 1 : TRIES
    for (let i = 1; i < tries && !best.isClean && !isGood(best.sample); i++) {
      if (performance.now() > this.#options.until) break
      const next = await this.#once(relay, wanted)
      if (next.isClean || next.sample.loadShare > best.sample.loadShare) best = next
    }
    this.taken++
    if (!best.isClean) this.disturbed++
    return best
  }

  async #once(relay: Target, { rate, flows, train = 1 }: Wanted): Promise<Taken> {
    const { contender, port, pid } = relay
    const { warmMs, measureMs } = this.#options
    try {
      const order = { port, pid, form: contender.form, flows, rate, train, warmMs, measureMs }
      const sample = await this.#load.take(order)
      relay.forwarded += sample.forwardedInAll
      if (sample.forwarded === 0) throw new Error('nothing was forwarded')
      return { sample, isClean: isClean(sample, contender.hasSeveralThreads) }
    } catch (cause) {
      throw new Error(`${contender.name}, ${flows} flows, ${rate} packets a second`, { cause })
    }
  }
}

/** Whether the load could keep up with what it was told to send. */
export function kept(sample: Sample): boolean {
  return sample.skipped < MOST_SKIPPED
}

function isClean(sample: Sample, hasSeveralThreads: boolean): boolean {
  if (sample.loadShare < LEAST_LOAD_SHARE || sample.stolenShare > MOST_STOLEN_SHARE) return false
  return hasSeveralThreads || sample.waitNs / 1e9 / sample.seconds < MOST_WAIT_SHARE
}

/** Samples by what they are of. */
export class Series {
  readonly #taken = new Map<string, Taken[]>()

  add(phase: string, name: string, taken: Taken): void {
    const key = `${phase}|${name}`
    const list = this.#taken.get(key)
    if (list) list.push(taken)
    else this.#taken.set(key, [taken])
  }

  /** Whether one of them at least was not disturbed. */
  hasClean(phase: string, name: string): boolean {
    return this.#taken.get(`${phase}|${name}`)?.some(({ isClean }) => isClean) ?? false
  }

  /** The median over the undisturbed samples, over all when each was disturbed; undefined when there are none. */
  median(phase: string, name: string, of: (sample: Sample) => number): number | undefined {
    const all = this.#taken.get(`${phase}|${name}`)
    if (!all) return undefined
    const clean = all.filter(({ isClean }) => isClean)
    return median((clean.length > 0 ? clean : all).map(({ sample }) => of(sample)))
  }
}

/** CPU time of one forwarded packet. */
export function nsPerPacket({ cpuNs, forwarded }: Sample): number {
  return cpuNs / forwarded
}
