/** A server under measurement, in a process of its own, as its driver sees it. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type Address, parseAddress } from '../../../core/index.ts'
import { freePort } from '../../peers/free-port.ts'
import type { Post } from '../../peers/signaling.ts'
import { postTo } from '../../peers/signaling.ts'
import type { Ready, Reply, Request, Usage } from './server-protocol.ts'

/** Who is measured. */
export type ServerKind = 'edge' | 'edge with relay' | 'libdatachannel'

const START_WITHIN_MS = 20_000

/** The process. It is stopped at the end of the scope: `await using`. */
export class ServerProcess implements AsyncDisposable {
  readonly kind: ServerKind
  readonly post: Post
  readonly via: Address | undefined
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #id = 0

  private constructor(kind: ServerKind, child: ChildProcess, { origin, via }: Ready) {
    this.kind = kind
    this.#child = child
    this.post = postTo(origin)
    this.via = via === undefined ? undefined : parseAddress(via)
    child.on('message', (reply: Reply) => this.#waiting.get(reply.id)?.(reply))
  }

  /** Starts one. `execArgv` are more options for its Node. */
  static async start(kind: ServerKind, execArgv: readonly string[] = []): Promise<ServerProcess> {
    const file = kind === 'libdatachannel' ? 'libdatachannel-server.ts' : 'edge-server.ts'
    // libdatachannel takes no port 0 for a shared socket.
    const argument =
      kind === 'libdatachannel' ? String(await freePort()) : kind === 'edge' ? 'direct' : 'relay'
    const child = fork(join(import.meta.dirname, file), [argument], {
      execArgv: ['--expose-gc', ...execArgv],
    })
    const gone = new AbortController()
    const timer = setTimeout(() => gone.abort(new Error(`${kind} did not start`)), START_WITHIN_MS)
    child.once('exit', (code) => gone.abort(new Error(`${kind} stopped with ${code} before it listened`)))
    try {
      const [ready]: Ready[] = await once(child, 'message', { signal: gone.signal })
      return new ServerProcess(kind, child, ready!)
    } catch (error) {
      child.kill('SIGKILL')
      throw gone.signal.aborted ? gone.signal.reason : error
    } finally {
      clearTimeout(timer)
    }
  }

  /** What it uses now. */
  async usage(): Promise<Usage> {
    return (await this.#ask('usage')).usage
  }

  /** The same, after it has collected its garbage. */
  async settle(): Promise<Usage> {
    return (await this.#ask('settle')).usage
  }

  /** The CPU in microseconds that it uses while `work` runs. */
  async cpuDuring(work: () => Promise<void>): Promise<number> {
    const before = await this.usage()
    await work()
    const after = await this.usage()
    return after.cpuMicros - before.cpuMicros
  }

  /** Waits until it has no calls. */
  async untilIdle(): Promise<void> {
    for (let i = 0; i < 200; i++) {
      if ((await this.#ask('calls')).calls === 0) return
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`${this.kind} still has calls`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000)
    void this.#ask('stop')
    await exit
    clearTimeout(timer)
  }

  #ask(ask: Request['ask']): Promise<Reply> {
    const id = ++this.#id
    const { promise, resolve } = Promise.withResolvers<Reply>()
    this.#waiting.set(id, (reply) => {
      this.#waiting.delete(id)
      resolve(reply)
    })
    const request: Request = { id, ask }
    this.#child.send(request)
    return promise
  }
}
