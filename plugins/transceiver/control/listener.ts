/**
 * The owner's side: a TCP listener on the transceiver's internal address that serves the cluster's own transceivers and
 * nobody else. What comes from elsewhere is cut off, what is not signed gets 401 and not a word, what is slow or large
 * is not waited for. It never passes anything on.
 */

import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyHttpOptions, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import {
  type Address,
  type AllowedAddresses,
  addWebSockets,
  answerErrors,
  EdgeError,
  toAddress,
} from '../../../core/index.ts'
import { Admission, type AdmissionOptions } from './admission.ts'
import { PREFIX } from './owner-client.ts'
import { Unproven } from './unproven.ts'

/** What connections may do. */
export interface ControlLimits {
  /** The head of a request must be there after this long, in milliseconds. */
  readonly headMs: number
  /** All of it. */
  readonly requestMs: number
  readonly connections: number
  /** Connections of one host that have not brought a signed request yet. */
  readonly unproven: number
}

/** A little more than the public listener takes, since a signature is added. */
const MAX_HEAD = 40_960

const LIMITS: ControlLimits = { headMs: 3000, requestMs: 5000, connections: 4096, unproven: 64 }

/** What the listener stands on once it serves. */
export interface ServeOptions extends AdmissionOptions {
  readonly owners: AllowedAddresses
  readonly log: Logger
  /** The largest body, in bytes. */
  readonly bodyLimit: number
  /** Adds the routes. */
  register(scope: FastifyInstance): Promise<void>
}

/** The control port. */
export class ControlListener {
  readonly local: Address
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #unproven: Unproven<Socket>
  #owners: AllowedAddresses | undefined
  #instance: FastifyInstance | undefined

  private constructor(server: Server, local: Address, unproven: number) {
    this.#server = server
    this.local = local
    this.#unproven = new Unproven(unproven)
    server.on('connection', (socket) => this.#take(socket))
    // Such as a lack of descriptors when a connection is taken: the next one may fare better.
    server.on('error', () => {})
    server.on('clientError', (_error, socket) => socket.destroy())
  }

  /** Takes the port; nothing is served yet. Rejects with EdgeError `address_in_use` or `address_unavailable`. */
  static async bind(address: Address, limits: Partial<ControlLimits> = {}): Promise<ControlListener> {
    const { headMs, requestMs, connections, unproven } = { ...LIMITS, ...limits }
    const server = createServer({
      maxHeaderSize: MAX_HEAD,
      headersTimeout: headMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(500, headMs),
      keepAliveTimeout: 10_000,
      // Whoever sends none is not signed either, and is told the same.
      requireHostHeader: false,
    })
    server.maxConnections = connections
    await listen(server, address)
    const bound = server.address()
    const port = typeof bound === 'object' && bound ? bound.port : address.port
    return new ControlListener(server, toAddress(address.host, port) ?? address, unproven)
  }

  /** Serves what is signed from now on. */
  async serve(options: ServeOptions): Promise<void> {
    const { log, bodyLimit, register } = options
    const settings: FastifyHttpOptions<Server> = {
      loggerInstance: log,
      logController: new LogController({ disableRequestLogging: true }),
      routerOptions: { maxParamLength: MAX_HEAD },
      bodyLimit,
      pluginTimeout: 0,
      // A path that cannot be decoded meets no hook.
      frameworkErrors: (_error, request) => void request.raw.socket.destroy(),
      serverFactory: (handler) => this.#server.on('request', handler),
    }
    const instance: FastifyInstance = Fastify(settings)
    this.#instance = instance
    answerErrors(instance)
    await addWebSockets(instance)
    new Admission(options, (socket) => this.#unproven.release(socket)).guard(instance)
    instance.removeAllContentTypeParsers()
    instance.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    await instance.register(register, { prefix: PREFIX })
    await instance.ready()
    this.#owners = options.owners
  }

  /** Takes no more, and cuts off what is left. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    await this.#instance?.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #take(socket: Socket): void {
    const from = toAddress(socket.remoteAddress ?? '', socket.remotePort ?? 0)
    if (!from || !this.#owners?.hasHost(from) || !this.#unproven.take(socket, from.host)) {
      socket.destroy()
      return
    }
    this.#sockets.add(socket)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      this.#unproven.release(socket)
    })
  }
}

async function listen(server: Server, address: Address): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host: address.host, port: address.port }, resolve)
  try {
    await promise
  } catch (cause) {
    const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
    throw new EdgeError(
      isTaken ? 'address_in_use' : 'address_unavailable',
      `the control port, TCP ${address}, cannot be had (${String(cause)}); set "listen" to an address and port that is free for UDP and TCP`,
      { cause },
    )
  } finally {
    server.off('error', reject)
  }
}
