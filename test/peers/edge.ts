/** An edge inside the test's own process, with every port left to the system, and what a test asks about it. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { load } from '../../core/config/load.ts'
import { type Edge, start } from '../../core/host.ts'
import type { Address, ThreadUdp, UdpEngine } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { defaultEngine } from '../../core/udp/engines.ts'
import { type Post, Refused } from './signaling.ts'

/** The repository. */
export const ROOT = join(import.meta.dirname, '..', '..')

/** Relay, transceiver and loopback bridge in one process. */
export const LOOPBACK_ROLE = join(ROOT, 'deploy', 'roles', 'loopback.json')

const ANY_PORTS = {
  EARSHOT_HTTP_PORT: '0',
  EARSHOT_ADMIN_PORT: '0',
  EARSHOT_RELAY_PORT: '0',
  EARSHOT_TRANSCEIVER_PORT: '0',
}

/** How to start one. */
export interface TestEdgeOptions {
  /** A config file, or a config whose `use` paths begin with `./` at the repository. Default: the loopback role. */
  readonly config?: string | Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  readonly udp?: UdpEngine
  /** Where to log, instead of into `TestEdge.log`. */
  readonly logger?: Logger
  /** How long calls may go on once the edge is told to stop. Default 0. */
  readonly drainSeconds?: number
}

/** A line of its log. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly level: number; readonly msg: string }

/** What `GET /transceiver/sessions` says of one. */
export interface SessionView {
  readonly session: string
  readonly caller: string
  readonly state: string
  readonly client: string | null
  readonly packetsReceived: number
  readonly packetsSent: number
  readonly lost: number
}

/** What `GET /relay/flows` says of one. */
export interface FlowView {
  readonly client: string
  /** The relay of another cluster that its packets come through. */
  readonly relay?: string
  readonly confirmed: boolean
  readonly routes: readonly { readonly transceiver: string; readonly state: string }[]
  readonly packets: { readonly up: number; readonly down: number }
}

/** A running edge. It is stopped at the end of the scope: `await using`. */
export class TestEdge implements AsyncDisposable {
  readonly edge: Edge
  /** What was logged so far; pino's numbers: 40 is a warning, 50 an error. */
  readonly log: readonly LogLine[]
  /** The UDP addresses it bound, in order. */
  readonly bound: readonly Address[]

  constructor(edge: Edge, log: readonly LogLine[], bound: readonly Address[]) {
    this.edge = edge
    this.log = log
    this.bound = bound
  }

  /** The public listener's origin. */
  get origin(): string {
    return `http://${this.edge.address}`
  }

  /** Starts a call without a socket in between. */
  readonly post: Post = async (offer) => {
    const headers = { 'content-type': 'application/sdp' }
    const url = '/v1/realtime/calls'
    const response = await this.edge.http.inject({ method: 'POST', url, payload: offer, headers })
    if (response.statusCode !== 201) throw new Refused(response.statusCode, response.body)
    return { sdp: response.body, url: String(response.headers.location) }
  }

  /** Ends a call by the path that `post` gave; resolves with the status. */
  async hangUp(url: string): Promise<number> {
    const response = await this.edge.http.inject({ method: 'POST', url: `${url}/hangup` })
    return response.statusCode
  }

  /** The transceiver's sessions; `bound` counts what leads to them in its tables. */
  sessions(): Promise<{ total: number; bound: unknown; sessions: SessionView[] }> {
    return this.ask('/transceiver/sessions')
  }

  /** The relay's flows. */
  flows(): Promise<{ confirmed: number; unconfirmed: number; flows: FlowView[] }> {
    return this.ask('/relay/flows')
  }

  /** What the admin listener answers under a path. */
  async ask<T>(url: string): Promise<T> {
    const response = await this.edge.admin.inject({ method: 'GET', url })
    if (response.statusCode !== 200) throw new Refused(response.statusCode, response.body)
    return JSON.parse(response.body)
  }

  /** Waits until no call is left in the transceiver and every count in its session list is 0. */
  async untilIdle(patience = 5000): Promise<void> {
    await eventually(
      'no call is left in the transceiver',
      async () => !/[1-9]/.test(JSON.stringify(await this.sessions())),
      patience,
    )
  }

  async close(): Promise<void> {
    await this.edge.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** Starts an edge. */
export async function startEdge(options: TestEdgeOptions = {}): Promise<TestEdge> {
  const { config = LOOPBACK_ROLE, env = {}, drainSeconds = 0 } = options
  const loaded = await loadConfig(config, { ...ANY_PORTS, ...env })
  const log: LogLine[] = []
  const bound: Address[] = []
  const edge = await start(
    { ...loaded, config: { ...loaded.config, drainSeconds } },
    {
      log: options.logger ?? keeping(log),
      udp: recorded(options.udp ?? defaultEngine(), bound),
      env: {},
    },
  )
  return new TestEdge(edge, log, bound)
}

async function loadConfig(
  config: string | Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>>,
): ReturnType<typeof load> {
  if (typeof config === 'string') return load(config, env)
  const folder = await mkdtemp(join(tmpdir(), 'earshot-edge-'))
  const file = join(folder, 'edge.config.json')
  try {
    await writeFile(file, JSON.stringify(config).replaceAll('"use":"./', `"use":"${ROOT}/`))
    return await load(file, env)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function keeping(lines: LogLine[]): Logger {
  return pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
}

/** The same engine, noting the address of each port it opens. */
function recorded(engine: UdpEngine, bound: Address[]): UdpEngine {
  const { threads } = engine
  return {
    name: engine.name,
    open: async (options) => {
      const port = await engine.open(options)
      bound.push(port.local)
      return port
    },
    ...(threads && { threads: recordedThreads(threads, bound) }),
  }
}

function recordedThreads(threads: ThreadUdp, bound: Address[]): ThreadUdp {
  return {
    ...threads,
    open(address, options) {
      const socket = threads.open(address, options)
      bound.push(socket.local)
      return socket
    },
  }
}
