/** The contract between the host and a plugin: what a plugin declares, and what it is given. */

import type { Meter, Tracer } from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Static, TObject } from 'typebox'
import type { CallTracing } from './call-tracing.ts'
import type { UdpEngine } from './contracts/udp-port.ts'
import type { Keys, MaybeServices, Services } from './service.ts'
import type { Address } from './wire/address.ts'

/** Something wrong in a plugin's options, by JSON pointer relative to them (`/listen/0`; '' for the whole). */
export interface Problem {
  readonly pointer: string
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
}

/** Who makes a request: the name of an API key, or `anonymous`, which no key is called, where none is configured. */
export interface Principal {
  readonly name: string
  /** The id of the client secret that was sent in the key's place. It reaches only the calls that were made with it. */
  readonly clientSecret?: string
  /** The ip that the request came from, where it tells apart who has no key. */
  readonly ip?: string
}

/** What the config's `node` section says of this process. */
export interface NodeIdentity {
  /** 0 to 65535. */
  readonly cluster: number
  /** The ip:port pairs that answers carry; undefined means `auto`: ask the relay in this process. */
  readonly advertise: readonly Address[] | undefined
  /** True when the public HTTP listener is bound to more than this machine. */
  readonly reachable: boolean
}

/** What the host gives a plugin at setup. */
export interface Context {
  /** The instance's name in edge.config.json. */
  readonly id: string
  readonly node: NodeIdentity
  readonly log: Logger
  readonly tracer: Tracer
  readonly meter: Meter
  /** Spans of one call land in one trace, found by the session's bytes alone. */
  readonly tracing: CallTracing
  /** An encapsulated Fastify scope on the public listener: routes and hooks added here stay with this plugin. */
  readonly http: FastifyInstance
  /** The same on the admin listener. */
  readonly admin: FastifyInstance
  /** Opens UDP ports on the engine in use. */
  readonly udp: UdpEngine
  /** Who makes this request; throws EdgeError `unauthorized` when the key is missing or wrong. */
  authenticate(request: FastifyRequest): Principal
  /**
   * Who makes this request with what was given to the key of this name earlier; throws EdgeError `unauthorized` when there
   * is no such key any more.
   */
  principalOf(request: FastifyRequest, name: string): Principal
  /** Aborts when the process is told to stop at once. */
  readonly signal: AbortSignal
  /** Runs when every plugin is set up, before the HTTP listeners open. */
  onReady(run: () => void | Promise<void>): void
  /** Runs while the doors are shut and calls may finish; `deadline` aborts when time is up. */
  onDrain(run: (deadline: AbortSignal) => void | Promise<void>): void
  /** Runs last, in the reverse of setup order. */
  onClose(run: () => void | Promise<void>): void
}

/** A plugin: options as a TypeBox schema, services it needs and gives, and how to set it up. */
export interface Plugin<
  S extends TObject = TObject,
  R extends Keys = Keys,
  O extends Keys = Keys,
  P extends Keys = Keys,
> {
  readonly name: string
  /** The version of this contract that the plugin was written for. */
  readonly api: 1
  /** The operator's options. Unknown keys are errors; defaults are filled in. */
  readonly options: S
  readonly requires?: R
  readonly optional?: O
  readonly provides?: P
  /** Checks that a schema cannot say. No I/O: it also runs under `earshot check`. */
  check?(options: Static<S>): Problem[]
  setup(
    options: Static<S>,
    services: Services<R> & MaybeServices<O>,
    context: Context,
  ): Services<P> | Promise<Services<P>>
}

/** Declares a plugin; a plugin file's default export. Wrong services or options are compile errors. */
export function definePlugin<
  const S extends TObject,
  // biome-ignore lint/complexity/noBannedTypes: no services at all is what `{}` says here
  const R extends Keys = {},
  // biome-ignore lint/complexity/noBannedTypes: as above
  const O extends Keys = {},
  // biome-ignore lint/complexity/noBannedTypes: as above
  const P extends Keys = {},
>(plugin: Plugin<S, R, O, P>): Plugin<S, R, O, P> {
  return Object.freeze(plugin)
}
