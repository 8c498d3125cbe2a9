/** A relay in a process of its own, calls through it, and floods beside them. The calls and the floods are this thread. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Libc } from '../../core/ffi/libc.ts'
import { type Address, parseAddress } from '../../core/index.ts'
import { SealedCodec } from '../../plugins/routing-codec/sealed/codec.ts'
import { Requests } from '../bench/relay/datagrams.ts'
import { Load } from '../bench/relay/load.ts'
import { LOAD_KEY, type Order, type Sample } from '../bench/relay/load-protocol.ts'
import { spawnPinned, stop } from '../bench/relay/pinned.ts'
import { Flood } from './flood.ts'
import type { Kind } from './kinds.ts'
import type { RelayFigures } from './relay-process.ts'

/** A packet every 20 ms. */
const PACKETS_PER_SECOND = 50
/** After the end of a flood, until the calls must be whole. */
const WHOLE_WITHIN_MS = 1_000
const WARM_MS = 200
/** A relay whose processor somebody else has for a while has lost nothing yet. */
const PATIENCE_MS = 1_000
/** More than any relay forwards. */
const SATURATING_RATE = 250_000

/** What came of one flood. */
export interface FloodReport {
  readonly kind: Kind
  /** Datagrams a second that were asked for, and that were sent. */
  readonly wanted: number
  readonly rate: number
  /** The part of the calls' packets that did not come back: meanwhile, and after it; unpaced, from a second after. */
  readonly loss: number
  readonly lossAfter: number
  /** Microseconds, the calls' round trips meanwhile. */
  readonly p99: number
  /** How much the relay's resident set grew, and what it is then. Bytes. */
  readonly grown: number
  readonly residentBytes: number
  /** Look-ups a second and worker. */
  readonly lookUps: number
  /** Datagrams of the flood that the relay read and dropped, and that it answered. */
  readonly dropped: number
  readonly answers: number
}

/** How the relay is to be. */
export interface FloodedRelayOptions {
  readonly way: string
  readonly calls: number
  readonly cpus: readonly number[]
  /** The URL of its recovery store; without it the store knows nobody. */
  readonly redis: string | undefined
}

/** The relay under floods. Close it. */
export class FloodedRelay implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #at: Address
  readonly #libc: Libc
  readonly #load: Load
  readonly #calls: number
  readonly #ufrag: () => string

  private constructor(libc: Libc, child: ChildProcess, port: number, calls: number) {
    this.#child = child
    this.#at = parseAddress(`127.0.0.1:${port}`)!
    this.#libc = libc
    this.#load = new Load(libc)
    this.#calls = calls
    const codec = new SealedCodec([LOAD_KEY])
    const { local: address } = this.#load.transceiver
    this.#ufrag = () => codec.encode({ cluster: 1, address, session: Buffer.alloc(8, 1) }, 'ufrag')
  }

  /** Starts one. Rejects when it does not come up. */
  static async start(libc: Libc, { way, calls, cpus, redis }: FloodedRelayOptions): Promise<FloodedRelay> {
    const program = [process.execPath, join(import.meta.dirname, 'relay-process.ts'), way]
    if (redis !== undefined) program.push(redis)
    const child = spawnPinned(cpus, program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const [ready] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`the relay stopped with ${code}`))),
    ])
    return new FloodedRelay(libc, child, (ready satisfies RelayFigures).port, calls)
  }

  /** The most datagrams a second that the relay forwards, both ways together. Confirms the calls. */
  maximum(measureMs: number): number {
    this.#confirm()
    const { forwarded, seconds } = this.#load.measure(
      this.#at,
      this.#order(SATURATING_RATE, WARM_MS, measureMs),
    )
    return forwarded / seconds
  }

  /** The calls, with nothing beside them. */
  calm(measureMs: number): Sample {
    this.#confirm()
    return this.#measure(WARM_MS, measureMs)
  }

  /** One flood for so long, and the calls for as long after it; Infinity for as many as can be sent. */
  async under(kind: Kind, wanted: number, measureMs: number, seed = 1): Promise<FloodReport> {
    this.#confirm()
    const before = await this.#figures()
    using flood = new Flood(this.#libc, this.#at, kind, this.#ufrag(), wanted, seed)
    const began = performance.now()
    const meanwhile = this.#measure(WARM_MS, measureMs, (now) => flood.turn(now))
    const seconds = (performance.now() - began) / 1000
    // A flood that it can bear leaves nothing to get over.
    const after = this.#measure(wanted < Number.POSITIVE_INFINITY ? 0 : WHOLE_WITHIN_MS, measureMs)
    const then = await this.#figures()
    const all = (performance.now() - began) / 1000
    return {
      kind,
      wanted,
      rate: flood.sent / seconds,
      loss: meanwhile.loss,
      lossAfter: after.loss,
      p99: meanwhile.p99,
      grown: then.residentBytes - before.residentBytes,
      residentBytes: then.residentBytes,
      lookUps: (then.asked - before.asked) / all / then.workers,
      dropped: then.dropped - before.dropped,
      answers: flood.answers(),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stop(this.#child)
  }

  #confirm(): void {
    this.#load.confirm(this.#at, this.#calls, new Requests(this.#calls, this.#ufrag))
  }

  #measure(warmMs: number, measureMs: number, beside?: (now: number) => void): Sample {
    return this.#load.measure(
      this.#at,
      this.#order(this.#calls * PACKETS_PER_SECOND, warmMs, measureMs),
      beside,
    )
  }

  #order(rate: number, warmMs: number, measureMs: number): Order {
    const { port } = this.#at
    const train = rate === SATURATING_RATE ? 2 : 1
    const pid = this.#child.pid!
    const flows = this.#calls
    return { port, pid, form: 'sealed', flows, rate, train, warmMs, measureMs, patienceMs: PATIENCE_MS }
  }

  async #figures(): Promise<RelayFigures> {
    // What it still has to read is read first.
    await delay(50)
    const answer = once(this.#child, 'message')
    this.#child.send('figures')
    const [figures] = await answer
    return figures
  }
}
