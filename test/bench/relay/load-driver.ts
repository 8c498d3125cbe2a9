/** The load's process, as the benchmark sees it. */

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Answer, LoadReady, Order, Sample } from './load-protocol.ts'
import { spawnPinned, stop } from './pinned.ts'

/** It is stopped at the end of the scope: `await using`. */
export class LoadDriver implements AsyncDisposable {
  /** The transceiver's port at 127.0.0.1. */
  readonly transceiver: number
  readonly pid: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, transceiver: number) {
    this.#child = child
    this.transceiver = transceiver
    this.pid = child.pid!
  }

  /** Starts it on one processor. Rejects when it does not come up. */
  static async start(cpu: number): Promise<LoadDriver> {
    const child = spawnPinned([cpu], [process.execPath, join(import.meta.dirname, 'load-process.ts')], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ready: LoadReady = await nextMessage(child)
    return new LoadDriver(child, ready.transceiver)
  }

  /** Takes one sample; one at a time. Rejects when the load could not take it. */
  async take(order: Order): Promise<Sample> {
    const answer = nextMessage<Answer>(this.#child)
    this.#child.send(order)
    const result = await answer
    if ('failure' in result) throw new Error(result.failure)
    return result.sample
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stop(this.#child)
  }
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const gone = new AbortController()
  const onExit = (code: number | null): void => gone.abort(new Error(`the load stopped with ${code}`))
  const onError = (error: Error): void => gone.abort(error)
  child.once('exit', onExit)
  child.once('error', onError)
  try {
    const [message]: T[] = await once(child, 'message', { signal: gone.signal })
    return message!
  } catch (error) {
    throw gone.signal.aborted ? gone.signal.reason : error
  } finally {
    child.off('exit', onExit)
    child.off('error', onError)
  }
}
