/** Sets up the plugins of a loaded config, opens the listeners, and takes everything down again in reverse. */

import { dirname, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from 'pino'
import type { Loaded } from './config/load.ts'
import type { UdpEngine } from './contracts/udp-port.ts'
import type { Wired } from './graph.ts'
import { addHealth, Health } from './health.ts'
import { authenticator } from './http-auth.ts'
import { Life, STEP_LIMIT } from './life.ts'
import { createListeners, openListeners, shut } from './listeners.ts'
import { createLog } from './log.ts'
import { announce, warnOfExposure } from './start-notes.ts'
import { createTelemetry, type Telemetry } from './telemetry.ts'
import { chooseEngine } from './udp/engines.ts'
import { VERSION } from './version.ts'
import { Address } from './wire/address.ts'

/** What may be given instead of what the config says; tests do. */
export interface StartOptions {
  readonly log?: Logger
  readonly udp?: UdpEngine
  readonly telemetry?: Telemetry
  readonly env?: Readonly<Record<string, string | undefined>>
  /** How long one plugin may take for a step of its start or end, in milliseconds. Default 10 s. */
  readonly stepLimit?: number
  /** Gives the start up: the step that runs hears of it by the plugins' `signal`, and no other begins. */
  readonly signal?: AbortSignal
}

/** A running edge. */
export interface Edge extends AsyncDisposable {
  /** The public listener; `http.inject` makes a request without a socket. */
  readonly http: FastifyInstance
  readonly admin: FastifyInstance
  readonly address: Address
  /** Undefined when the config has no admin listener. */
  readonly adminAddress: Address | undefined
  readonly health: Health
  readonly log: Logger
  readonly telemetry: Telemetry
  /** Not ready any more; waits for the plugins to finish their work, at most `drainSeconds`. */
  drain(): Promise<void>
  /** Drains, then closes everything. Never rejects; a second call waits for the first. */
  close(): Promise<void>
  /** Tells plugins that waiting is over: their `signal` aborts. */
  abort(): void
}

/** How long the last telemetry may take to leave, in milliseconds. */
const LAST_TELEMETRY = 2000

/**
 * Starts an edge. When anything fails, what was set up is closed again in reverse, and the EdgeError names the
 * plugin or the listener. A start that was given up rejects with the signal's reason or what came of the last step.
 */
export async function start(loaded: Loaded, options: StartOptions = {}): Promise<Edge> {
  const { signal } = options
  const host = await Host.create(loaded, options)
  const giveUp = (): void => host.abort()
  signal?.addEventListener('abort', giveUp)
  try {
    for (const one of loaded.order) {
      signal?.throwIfAborted()
      await host.setUp(one)
    }
    signal?.throwIfAborted()
    await host.open()
  } catch (error) {
    await host.takeDown()
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
  return host
}

class Host implements Edge {
  readonly http: FastifyInstance
  readonly admin: FastifyInstance
  readonly health = new Health()
  readonly log: Logger
  readonly telemetry: Telemetry
  address = new Address()
  adminAddress: Address | undefined
  readonly #loaded: Loaded
  readonly #life: Life
  readonly #udp: UdpEngine
  readonly #authenticator
  readonly #stop = new AbortController()
  readonly #given = new Map<string, Readonly<Record<string, unknown>>>()
  #drained: Promise<void> | undefined
  #closed: Promise<void> | undefined

  private constructor(
    loaded: Loaded,
    { udp, stepLimit }: StartOptions,
    shared: { log: Logger; telemetry: Telemetry; http: FastifyInstance; admin: FastifyInstance },
  ) {
    this.#loaded = loaded
    this.log = shared.log
    this.#udp = udp ?? chooseEngine(loaded.config.node.udp, (reason) => this.log.warn(reason))
    this.telemetry = shared.telemetry
    this.http = shared.http
    this.admin = shared.admin
    this.#life = new Life(this.log, stepLimit ?? STEP_LIMIT)
    this.#authenticator = authenticator(loaded.config.http.keys)
  }

  static async create(loaded: Loaded, options: StartOptions): Promise<Host> {
    const { config, redact } = loaded
    const log = options.log ?? createLog({ ...config.log, redact })
    const { http, admin } = await createListeners(config, dirname(resolve(loaded.file)), log)
    // After what may fail: it has timers and connections.
    const telemetry =
      options.telemetry ??
      createTelemetry({
        otlp: config.telemetry.otlp,
        version: VERSION,
        plugins: Object.keys(config.plugins),
        env: options.env ?? process.env,
      })
    const host = new Host(loaded, options, { log, telemetry, http, admin })
    host.#addOwnRoutes()
    return host
  }

  /** Sets one plugin up, in a scope of its own on both listeners. */
  async setUp(one: Wired): Promise<void> {
    const { id } = one
    let outcome: { services: Readonly<Record<string, unknown>> } | { error: unknown } | undefined
    const inScopes = async (http: FastifyInstance, admin: FastifyInstance): Promise<void> => {
      try {
        outcome = { services: await this.#life.step(id, 'setup', () => this.#setup(one, http, admin)) }
      } catch (error) {
        outcome = { error }
      }
    }
    const meta = { name: id, encapsulate: true }
    await this.http.register(
      fp(async (http) => {
        await this.admin.register(fp(async (admin) => inScopes(http, admin), meta))
      }, meta),
    )
    if (!outcome || 'error' in outcome) throw outcome?.error
    this.#given.set(id, outcome.services)
    this.log.debug({ plugin: id, use: one.use }, 'plugin set up')
  }

  async #setup(
    { id, plugin, options, from }: Wired,
    http: FastifyInstance,
    admin: FastifyInstance,
  ): Promise<Readonly<Record<string, unknown>>> {
    const services = Object.fromEntries(
      [...from].map(([local, giver]) => [local, giver && this.#given.get(giver.id)?.[giver.local]]),
    )
    const given = await plugin.setup(options, services, {
      id,
      node: this.#loaded.node,
      log: this.log.child({ plugin: id }),
      tracer: this.telemetry.tracer(id),
      meter: this.telemetry.meter(id),
      tracing: this.telemetry.tracing,
      http,
      admin,
      udp: this.#udp,
      ...this.#authenticator,
      signal: this.#stop.signal,
      onReady: (run) => this.#life.onReady(id, run),
      onDrain: (run) => this.#life.onDrain(id, run),
      onClose: (run) => this.#life.onClose(id, run),
    })
    for (const local of Object.keys(plugin.provides ?? {})) {
      if (given?.[local] === undefined) throw new Error(`it provides "${local}" but returned none`)
    }
    return given ?? {}
  }

  /** Tells plugins that all are there, then opens the doors. */
  async open(): Promise<void> {
    const { config, node } = this.#loaded
    await this.#life.ready()
    const { admin, http } = await openListeners(config, this)
    this.address = http
    this.adminAddress = admin
    this.health.state = 'ready'
    warnOfExposure(this.log, node, this.address, this.adminAddress, this.#given.values())
    const hasPage = this.http.hasRoute({ method: 'GET', url: '/' })
    announce(this.log, config, this.address, this.adminAddress, hasPage)
  }

  drain(): Promise<void> {
    this.#drained ??= this.#drain()
    return this.#drained
  }

  async #drain(): Promise<void> {
    this.health.state = 'draining'
    await this.#life.drain(this.#loaded.config.drainSeconds * 1000)
  }

  close(): Promise<void> {
    this.#closed ??= this.drain().then(() => this.takeDown())
    return this.#closed
  }

  /** Stops listening, closes the plugins last in first out, and sends the last telemetry. Never rejects. */
  async takeDown(): Promise<void> {
    this.health.state = 'closed'
    this.#stop.abort()
    const http = shut(this.http)
    await this.#life.close()
    await http
    await shut(this.admin)
    await this.telemetry.close(LAST_TELEMETRY)
  }

  abort(): void {
    this.#stop.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #addOwnRoutes(): void {
    addHealth(this.http, this.health)
    addHealth(this.admin, this.health)
    // A client that keeps its connection would keep asking a process that takes no new calls.
    this.http.addHook('onSend', async (_request, reply) => {
      if (this.health.state !== 'ready') reply.header('connection', 'close')
    })
    if (!this.#loaded.config.telemetry.prometheus) return
    this.admin.get('/metrics', async (_request, reply) => {
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await this.telemetry.metricsText())
    })
  }
}
