/**
 * Real redis-server processes on free loopback ports: plain, with TLS, ACL users, as a replica or a sentinel. Each has
 * a folder of its own and is gone at the end of the scope (`await using`), or with the test's process.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { Redis } from 'ioredis'
import { findProgram } from '../needs.ts'
import { freePort } from './free-port.ts'
import type { RedisTlsFiles } from './redis-tls.ts'

const START_WITHIN_MS = 20_000
const STOP_WITHIN_MS = 5_000
const READY = /Ready to accept connections|\+monitor (?:master|quorum)|Sentinel ID is/
const TAKEN = /Address already in use|Failed listening on port/

/** How to start one. */
export interface RedisServerOptions {
  /** Default: a free one. One that is given is used again by `start` after `stop` or `kill`. */
  readonly port?: number
  /** Lines of redis.conf by name, such as `maxmemory: '3mb'`; an array writes the line several times. */
  readonly config?: Readonly<Record<string, string | readonly string[]>>
  /** TLS in place of plain TCP. Clients need no certificate unless `config` says `tls-auth-clients: 'yes'`. */
  readonly tls?: RedisTlsFiles
  /** ACL rules by user: `{ relay: 'on >secret ~earshot:* +@all' }`. With `default: 'off'` nobody else gets in. */
  readonly users?: Readonly<Record<string, string>>
  /** The port of the master that it copies. */
  readonly replicaOf?: number
  /** Runs as a sentinel: what it watches, in the words of sentinel.conf (`sentinel monitor …`). */
  readonly sentinel?: readonly string[]
}

type Child = ChildProcessByStdio<null, Readable, Readable>

const running = new Set<Child>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** One redis-server. */
export class RedisServer implements AsyncDisposable {
  port: number
  /** What it printed, line by line. */
  readonly output: string[] = []
  readonly #options: RedisServerOptions
  readonly #folder: string
  #child: Child | undefined

  private constructor(folder: string, options: RedisServerOptions) {
    this.#folder = folder
    this.#options = options
    this.port = options.port ?? 0
  }

  /** Starts one and waits until it takes commands. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await mkdtemp(join(tmpdir(), 'earshot-redis-')), options)
    try {
      await server.start()
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    return server
  }

  /** Starts it (again), on the port it had before. */
  async start(): Promise<void> {
    const mayMove = this.port === 0
    for (let attempt = 1; ; attempt++) {
      if (mayMove) this.port = await freePort()
      const from = this.output.length
      if (await this.#launch()) return
      // Between the probe and the bind somebody else may have taken the port.
      const printed = this.output.slice(from)
      if (attempt < 5 && mayMove && printed.some((line) => TAKEN.test(line))) continue
      throw new Error(['redis-server did not start', ...printed].join('\n'))
    }
  }

  /** `redis://127.0.0.1:port`, or `rediss://…`. */
  get url(): string {
    return `${this.#options.tls ? 'rediss' : 'redis'}://127.0.0.1:${this.port}`
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  /** Sends one command over a connection of its own. */
  async command(name: string, ...args: (string | number | Buffer)[]): Promise<unknown> {
    await using client = await this.client()
    return client.redis.call(name, ...args)
  }

  /** A client of it, connected, to be disposed of. `user` where `default` may not. */
  async client(
    user: { readonly username?: string; readonly password?: string } = {},
  ): Promise<{ readonly redis: Redis } & AsyncDisposable> {
    const { tls } = this.#options
    const redis = new Redis(this.port, '127.0.0.1', {
      lazyConnect: true,
      protocol: 2,
      retryStrategy: null,
      enableReadyCheck: false,
      ...user,
      ...(tls ? { tls: await tlsOf(tls) } : {}),
    })
    redis.on('error', () => {})
    await redis.connect()
    return {
      redis,
      async [Symbol.asyncDispose]() {
        redis.disconnect()
      },
    }
  }

  /** Ends it as an operator does. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  /** Ends it as a crash does: kill -9. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Stops it in its tracks: connections stay open, and nothing is answered until `thaw`. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#child = undefined
    const gone = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
    await gone
    clearTimeout(timer)
  }

  /** True when it is ready, false when it ended before that. */
  async #launch(): Promise<boolean> {
    const program = findProgram('redis')
    if (!program) throw new Error('redis-server is missing')
    const file = join(this.#folder, 'redis.conf')
    await writeFile(file, this.#lines().join('\n'))
    const mode = this.#options.sentinel ? ['--sentinel'] : []
    const child = spawn(program, [file, ...mode], { stdio: ['ignore', 'pipe', 'pipe'], cwd: this.#folder })
    running.add(child)
    child.once('exit', () => running.delete(child))
    const { promise, resolve } = Promise.withResolvers<boolean>()
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.output.push(line)
        if (READY.test(line)) resolve(true)
      })
    }
    child.once('close', () => resolve(false))
    const timer = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS)
    const isReady = await promise
    clearTimeout(timer)
    if (isReady) this.#child = child
    return isReady
  }

  #lines(): string[] {
    const { tls, users = {}, replicaOf, sentinel, config = {} } = this.#options
    const lines = ['bind 127.0.0.1', 'daemonize no', `dir ${this.#folder}`]
    if (tls) {
      lines.push('port 0', `tls-port ${this.port}`, 'tls-auth-clients no', 'tls-replication yes')
      lines.push(`tls-ca-cert-file ${tls.ca}`, `tls-cert-file ${tls.cert}`, `tls-key-file ${tls.key}`)
    } else lines.push(`port ${this.port}`)
    if (sentinel) return [...lines, ...written(config), ...sentinel.map((line) => `sentinel ${line}`), '']
    lines.push('protected-mode no', 'save ""', 'appendonly no', 'repl-diskless-sync-delay 0')
    if (replicaOf !== undefined) lines.push(`replicaof 127.0.0.1 ${replicaOf}`)
    for (const [user, rules] of Object.entries(users)) lines.push(`user ${user} ${rules}`)
    return [...lines, ...written(config), '']
  }
}

async function tlsOf({ caText: ca, clientCert, clientKey }: RedisTlsFiles) {
  return { ca, cert: await readFile(clientCert), key: await readFile(clientKey) }
}

function written(config: NonNullable<RedisServerOptions['config']>): string[] {
  return Object.entries(config).flatMap(([name, value]) => [value].flat().map((each) => `${name} ${each}`))
}
