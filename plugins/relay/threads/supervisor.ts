/**
 * Keeps one worker thread alive: one that ends by itself or stands still is replaced. What it worked on outlives it, so
 * that its successor goes on and no datagram is lost. Replacements that do not last come at longer and longer intervals.
 */

import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { Context, ThreadControl } from '../../../core/index.ts'
import type { Report } from './messages.ts'

/** How often it is looked whether the loop beats, and how many looks in vain make a stuck thread. */
const LOOK_MS = 250
const LOOKS = 12

/**
 * A thread must run by then: before the host gives the start up. A successor has as long, since it has more to do: what
 * its predecessor left half done may be a large table.
 */
const START_MS = 8_000

const START_LOOKS = START_MS / LOOK_MS

/** A thread that lived so long was no failure from the start. */
const SOUND_MS = 10_000

/** So many failures in a row are made up for at once; then there are pauses, the first of this length. */
const AT_ONCE = 8
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000

/** What to do for a thread. */
export interface Care {
  /** Starts one. */
  spawn(): Worker
  onReport(report: Report): void
  /** The thread is gone, and what was said to it with it. */
  onGone(): void
}

/** One thread's keeper. */
export class Supervisor {
  /** Threads that were replaced. */
  restarts = 0
  readonly #name: string
  readonly #control: ThreadControl
  readonly #log: Context['log']
  readonly #care: Care
  #worker: Worker | undefined
  #gone: Promise<unknown> = Promise.resolve()
  #failures = 0
  #isClosing = false
  #beat = -1
  #looks = 0
  #runs = false
  #looker: NodeJS.Timeout | undefined
  #respawn: NodeJS.Timeout | undefined

  constructor(name: string, control: ThreadControl, log: Context['log'], care: Care) {
    this.#name = name
    this.#control = control
    this.#log = log
    this.#care = care
  }

  /** Resolves when the thread runs; rejects with why it does not. */
  async start(): Promise<void> {
    const first = this.#spawn()
    const deadline = AbortSignal.timeout(START_MS)
    try {
      // `once` rejects by itself when there is an error first.
      const ended = once(first, 'exit', { signal: deadline }).then(() => {
        throw new Error(`${this.#name} ended before it ran`)
      })
      await Promise.race([once(first, 'message', { signal: deadline }), ended])
    } catch (error) {
      await this.close()
      throw error
    }
    this.#looker = setInterval(() => this.#look(), LOOK_MS)
    this.#looker.unref()
  }

  /** Says something to the thread; without one it is lost. */
  post(message: unknown): void {
    this.#worker?.postMessage(message)
    this.#control.wake()
  }

  /** Ends the thread without a word, as a fault of its own would. */
  async kill(): Promise<void> {
    await this.#worker?.terminate()
  }

  /** Stops the thread and waits for its end. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearInterval(this.#looker)
    clearTimeout(this.#respawn)
    this.#control.words.stop()
    this.#control.wake()
    const inTime = await Promise.race([this.#gone.then(() => true), delay(1_000, false, { ref: false })])
    if (!inTime) await this.kill()
  }

  #spawn(): Worker {
    const born = performance.now()
    const worker = this.#care.spawn()
    this.#worker = worker
    this.#beat = -1
    this.#looks = 0
    this.#runs = false
    worker.on('message', (report: Report) => {
      if (report.type === 'runs') this.#isRunning()
      this.#care.onReport(report)
    })
    worker.on('error', (err: unknown) => {
      if (!this.#isClosing) this.#log.error({ err }, `${this.#name} failed`)
    })
    this.#gone = new Promise<void>((resolve) => worker.once('exit', () => resolve())).then(() => {
      if (this.#worker === worker) this.#replace(performance.now() - born)
    })
    return worker
  }

  #replace(livedMs: number): void {
    this.#worker = undefined
    this.#care.onGone()
    if (this.#isClosing || this.#looker === undefined) return
    this.restarts++
    this.#failures = livedMs >= SOUND_MS ? 0 : this.#failures + 1
    this.#log.warn({ livedMs: Math.round(livedMs) }, `${this.#name} has ended and is replaced`)
    if (this.#failures <= AT_ONCE) this.#trySpawn()
    else this.#spawnLater()
  }

  /** Where there is no room for a thread just now, there may be later. */
  #trySpawn(): void {
    try {
      this.#spawn()
    } catch (err) {
      this.#failures = Math.max(this.#failures, AT_ONCE) + 1
      this.#log.error({ err }, `${this.#name} cannot be started, and is tried again`)
      this.#spawnLater()
    }
  }

  #spawnLater(): void {
    const pause = FIRST_PAUSE_MS * 2 ** (this.#failures - AT_ONCE - 1)
    this.#respawn = setTimeout(() => this.#trySpawn(), Math.min(pause, LONGEST_PAUSE_MS))
  }

  #isRunning(): void {
    this.#runs = true
    this.#looks = 0
  }

  /** By looks and not by time: while this thread stands still itself it sees nobody. */
  #look(): void {
    const { beat } = this.#control.words
    this.#looks = beat === this.#beat ? this.#looks + 1 : 0
    this.#beat = beat
    if (this.#worker === undefined || this.#looks < (this.#runs ? LOOKS : START_LOOKS)) return
    this.#looks = -LOOKS * 2
    this.#log.error(`${this.#name} stands still and is ended`)
    void this.#worker.terminate()
  }
}
