/** A whole edge as a process of its own, started the way an operator starts it, for tests that talk to it. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '..', '..')
const START_WITHIN_MS = 20_000
const STOP_WITHIN_MS = 10_000

/** Every port that `deploy/roles/loopback.json` names, left to the system. */
const ANY_PORTS = {
  EARSHOT_HTTP_PORT: '0',
  EARSHOT_ADMIN_PORT: '0',
  EARSHOT_RELAY_PORT: '0',
  EARSHOT_TRANSCEIVER_PORT: '0',
}

/** A running edge. It is stopped at the end of the scope: `await using`. */
export interface Edge extends AsyncDisposable {
  /** Where the page is, with a slash at the end. */
  readonly url: string
  /** The admin listener's origin. */
  readonly admin: string
  /** What it has logged so far, one entry a line. */
  readonly log: readonly LogEntry[]
  /** Stops it as an operator does; resolves with its exit code. */
  stop(): Promise<number | null>
}

/** A line of the log. */
export type LogEntry = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string }

/** Starts an edge from a config file and waits until it is ready. Rejects with what it printed when it stops before. */
export async function startEdge(config: string, env: Record<string, string> = {}): Promise<Edge> {
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'node.js'), 'core/main.ts', 'run', config], {
    cwd: ROOT,
    env: { ...process.env, ...ANY_PORTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log: LogEntry[] = []
  const printed: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => printed.push(line))
  const url = await ready(child, log, printed)
  child.once('exit', (code, signal) => {
    if (code !== 0) console.error([`the edge stopped with ${signal ?? code}`, ...printed].join('\n'))
  })
  return {
    ...url,
    log,
    stop: () => stop(child),
    async [Symbol.asyncDispose]() {
      await stop(child)
    },
  }
}

/** What the admin listener answers under a path. */
export async function askAdmin<T>(edge: Edge, path: string): Promise<T> {
  const response = await fetch(new URL(path, edge.admin))
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** What is left of calls in an edge. */
export interface Leftovers {
  readonly sessions: number
  readonly bound: number
  readonly flows: number
}

/** Counts the transceiver's sessions, what is bound to them (ufrags, addresses), and the relay's flows. */
export async function leftovers(edge: Edge): Promise<Leftovers> {
  const sessions = await askAdmin<{ total: number; bound: Record<string, number> }>(
    edge,
    '/transceiver/sessions',
  )
  const flows = await askAdmin<{ confirmed: number; unconfirmed: number }>(edge, '/relay/flows')
  const bound = Object.values(sessions.bound).reduce((sum, count) => sum + count, 0)
  return { sessions: sessions.total, bound, flows: flows.confirmed + flows.unconfirmed }
}

/** Waits until an edge holds nothing of any call any more. Flows go 30 s after a call's last check (DESIGN §2). */
export async function untilEmpty(edge: Edge, withinMs = 45_000): Promise<void> {
  const end = performance.now() + withinMs
  for (;;) {
    const left = await leftovers(edge)
    if (Object.values(left).every((count) => count === 0)) return
    if (performance.now() > end)
      throw new Error(`after ${withinMs} ms the edge still holds ${JSON.stringify(left)}`)
    await delay(250)
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>

async function ready(
  child: Child,
  log: LogEntry[],
  printed: string[],
): Promise<{ url: string; admin: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ url: string; admin: string }>()
  let url: string | undefined
  const fail = (what: string): void => reject(new Error([`the edge ${what}`, ...printed].join('\n')))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const entry = parse(line)
    if (!entry) {
      printed.push(line)
      return
    }
    log.push(entry)
    if (entry.level === 'error' || entry.level === 'fatal') printed.push(line)
    url ??= /^(?:open|listening on) (\S+)/.exec(entry.msg)?.[1]
    if (entry.msg === 'ready' && url) resolve({ url, admin: String(entry.admin) })
  })
  child.once('exit', (code, signal) => fail(`stopped before it was ready (${signal ?? code})`))
  const timer = setTimeout(() => fail(`was not ready after ${START_WITHIN_MS} ms`), START_WITHIN_MS)
  try {
    return await promise
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function parse(line: string): LogEntry | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

async function stop(child: Child): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
    await gone
    clearTimeout(timer)
  }
  return child.exitCode
}
