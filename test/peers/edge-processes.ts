/**
 * Edges as processes of their own, started as an operator starts them: relays and transceivers apart, in any number,
 * on ports of the system's choice. A test kills, restarts, drains and measures them. Nothing outlives its scope.
 *
 * Start the relays first, then transceivers that advertise them:
 * `const keys = sharedSecrets()`, `await using relay = await startRole('relay', keys)`,
 * `await using transceiver = await startRole('transceiver', { ...keys, ...advertising(relay) })`.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { eventually } from '../../core/testing/check.ts'
import { makeSecrets } from '../../deploy/secrets.ts'
import { metricIn } from './metric-text.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const START_WITHIN_MS = 20_000
const STOP_WITHIN_MS = 10_000

/** Environment of a process: what the placeholders of its config are filled with. */
export type Env = Readonly<Record<string, string>>

/** A line of the log. */
export type LogEntry = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string }

/** Every port that the configs in `deploy/roles` name, left to the system; no Redis, and no time for calls to go on. */
const ANY_PORTS: Env = {
  EARSHOT_HTTP_PORT: '0',
  EARSHOT_ADMIN_PORT: '0',
  EARSHOT_RELAY_PORT: '0',
  EARSHOT_UPSTREAM_PORT: '0',
  EARSHOT_TRANSCEIVER_PORT: '0',
  EARSHOT_TRANSCEIVER_PORTS: '1024-65535',
  EARSHOT_REDIS_URL: 'redis://127.0.0.1:1',
  EARSHOT_DRAIN_SECONDS: '0',
}

/** The secrets that relays and transceivers of one deployment share, made anew. */
export const sharedSecrets: () => Env = makeSecrets

/** Makes transceivers answer with this relay's public address. For several, use a config of your own. */
export function advertising(relay: EdgeProcess): Env {
  return { EARSHOT_ADVERTISE: relay.addresses.relay }
}

/** The config of a role, as it is shipped. */
export function roleFile(role: 'relay' | 'transceiver' | 'loopback'): string {
  return join(ROOT, 'deploy', 'roles', `${role}.json`)
}

/** Starts a role; see `startProcess`. */
export function startRole(role: 'relay' | 'transceiver' | 'loopback', env: Env = {}): Promise<EdgeProcess> {
  return startProcess(roleFile(role), env)
}

/** Starts an edge from a config file and waits until it is ready. Rejects with what it printed when it stops before. */
export async function startProcess(config: string, env: Env = {}): Promise<EdgeProcess> {
  const edge = new EdgeProcess(config, env)
  await edge.ready()
  return edge
}

/** A process. It is stopped at the end of the scope, `await using`: by SIGTERM, and after a while by SIGKILL. */
export class EdgeProcess implements AsyncDisposable {
  /** What it has logged so far, one entry a line. */
  readonly log: LogEntry[] = []
  /** Everything else that it printed, and its errors. */
  readonly printed: string[] = []
  /** Resolves with its exit code once it has ended; null when a signal ended it. */
  readonly exited: Promise<number | null>
  /** Where the public listener is, with a slash at the end; the admin listener's origin. */
  url = ''
  admin = ''
  /** The UDP ip:port of each part that runs in it: the relay's public one and the one towards transceivers. */
  readonly addresses = { relay: '', upstream: '', transceiver: '' }
  readonly #config: string
  readonly #env: Env
  readonly #child: ChildProcessByStdio<null, Readable, Readable>

  constructor(config: string, env: Env) {
    this.#config = config
    this.#env = env
    this.#child = spawn(process.execPath, [join(ROOT, 'bin', 'node.js'), 'core/main.ts', 'run', config], {
      cwd: ROOT,
      env: { ...process.env, ...ANY_PORTS, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    createInterface({ input: this.#child.stderr }).on('line', (line) => this.printed.push(line))
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#onLine(line))
    this.exited = new Promise((resolve) => this.#child.once('close', resolve))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** False once it has ended. */
  get runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Waits until it is ready. */
  async ready(): Promise<void> {
    try {
      await this.logged('ready', START_WITHIN_MS)
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  /** Waits until it has logged a message; resolves with the first such entry, or rejects when it ends before. */
  async logged(message: string | RegExp, withinMs = 10_000): Promise<LogEntry> {
    const find = (): LogEntry | undefined =>
      this.log.find(({ msg }) => (typeof message === 'string' ? msg === message : message.test(msg)))
    const until = eventually(`the edge logs ${message}`, () => find() !== undefined || !this.runs, withinMs)
    await until.catch((cause) => {
      throw new Error([cause.message, ...this.printed].join('\n'))
    })
    if (!this.runs) await this.exited
    const entry = find()
    if (entry) return entry
    throw new Error(
      [`the edge ended (${this.#ending()}) before it logged ${message}`, ...this.printed].join('\n'),
    )
  }

  /** Sends a signal and returns. */
  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Kills it as a crash does (SIGKILL) and waits until it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.exited
  }

  /** Stops it as an operator does (SIGTERM); resolves with its exit code. */
  async stop(withinMs = STOP_WITHIN_MS): Promise<number | null> {
    if (this.runs) this.signal('SIGTERM')
    const timer = setTimeout(() => this.signal('SIGKILL'), withinMs)
    const code = await this.exited
    clearTimeout(timer)
    return code
  }

  /** The same again, at the addresses that this one has; stop or kill this one first. */
  again(env: Env = {}): Promise<EdgeProcess> {
    return startProcess(this.#config, { ...this.#env, ...this.#ports(), ...env })
  }

  /** What the admin listener answers under a path, read as JSON. */
  async ask<T>(path: string): Promise<T> {
    return JSON.parse(await this.#get(path))
  }

  /**
   * A metric's value, summed over all label sets that have `labels`; 0 when it was never counted. The name is the one
   * on /metrics without `earshot_`: `metric('relay_drops_total', { reason: 'no_route' })`.
   */
  async metric(name: string, labels: Env = {}): Promise<number> {
    return metricIn(await this.#get('/metrics'), `earshot_${name}`, labels)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #get(path: string): Promise<string> {
    const response = await fetch(new URL(path, this.admin))
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return text
  }

  #onLine(line: string): void {
    const entry = parse(line)
    if (!entry) {
      this.printed.push(line)
      return
    }
    const { level, msg } = entry
    if (level === 'error' || level === 'fatal') this.printed.push(line)
    this.url ||= /^(?:open|listening on) (\S+)/.exec(msg)?.[1] ?? ''
    if (msg === 'ready') this.admin = String(entry.admin)
    if (msg === 'relay listens') {
      this.addresses.relay = String(entry.listen).split(',')[0]!
      this.addresses.upstream = String(entry.upstream).split(',')[0]!
    }
    if (msg === 'transceiver listens') this.addresses.transceiver = String(entry.listen)
    // Last, so that whoever waits for this entry finds all of the above.
    this.log.push(entry)
  }

  #ports(): Env {
    const { relay, upstream, transceiver } = this.addresses
    const port = (name: string, from: string): Env => {
      const found = /:(\d+)\/?$/.exec(from)?.[1]
      return found === undefined ? {} : { [`EARSHOT_${name}_PORT`]: found }
    }
    return {
      ...port('HTTP', this.url),
      ...port('ADMIN', this.admin),
      ...port('RELAY', relay),
      ...port('UPSTREAM', upstream),
      ...port('TRANSCEIVER', transceiver),
    }
  }

  #ending(): string {
    return String(this.#child.signalCode ?? this.#child.exitCode)
  }
}

function parse(line: string): LogEntry | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
