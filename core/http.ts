/** The two listeners: the public one for clients, the admin one for operators. Both are Fastify. */

import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import cors from '@fastify/cors'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  LogController,
} from 'fastify'
import type { Logger } from 'pino'
import { isObject } from './config/pointer.ts'
import { EdgeError } from './errors.ts'
import { answerBrokenRequest, answerErrors, sendError } from './http-errors.ts'
import { CORS, guardLoopback, originMatcher } from './http-origins.ts'
import { proxyMatcher } from './http-proxies.ts'
import type { TlsIdentity } from './http-tls.ts'
import { addWebSockets } from './http-websocket.ts'
import { type Address, toAddress } from './wire/address.ts'

/** How to make a listener. */
export interface ListenerOptions {
  readonly log: Logger
  /** Largest body, in bytes. */
  readonly bodyLimit: number
  /** The most connections at a time; what is more is cut off at once. */
  readonly maxConnections: number
  readonly tls?: TlsIdentity | undefined
  /** Web origins that may read answers; none for a listener without CORS. */
  readonly origins?: readonly string[]
  /** CIDRs of proxies whose X-Forwarded-For is believed; none unless given. */
  readonly trustProxy?: readonly string[]
  /** True for a listener on loopback that asks for no key: strangers' pages are kept out. */
  readonly guarded: boolean
}

/** A request's headers and body must be complete after this long, in milliseconds. */
const REQUEST_TIMEOUT = 30_000

/** Call ids and sealed sessions stand in paths, and are longer than the 100 characters that Fastify takes by itself. */
const MAX_PARAM = 4096

/** The largest head of a request, in bytes: a client secret carries a whole session, and travels in a header. */
const MAX_HEAD = 32_768

/** Makes a listener that does not listen yet. */
export async function createListener(options: ListenerOptions): Promise<FastifyInstance> {
  const { log, bodyLimit, maxConnections, tls, origins, trustProxy = [], guarded } = options
  const allowed = originMatcher(origins ?? [])
  const loggerInstance: FastifyBaseLogger = log
  const settings: FastifyHttpOptions<Server> = {
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: { maxParamLength: MAX_PARAM },
    bodyLimit,
    trustProxy: proxyMatcher(trustProxy),
    pluginTimeout: 0,
    requestTimeout: REQUEST_TIMEOUT,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      // A path that cannot be decoded meets no hook, so its answer gets its CORS header here.
      const { origin } = request.headers
      if (origin !== undefined && allowed(origin)) reply.header('access-control-allow-origin', origin)
      sendError(error, request, reply)
    },
    serverFactory: (handler) => {
      const limits = { maxHeaderSize: MAX_HEAD }
      const server = tls
        ? createTlsServer({ ...tls, ...limits, minVersion: 'TLSv1.2' }, handler)
        : createServer(limits, handler)
      server.maxConnections = maxConnections
      server.requestTimeout = REQUEST_TIMEOUT
      server.headersTimeout = REQUEST_TIMEOUT
      return server
    },
  }
  const instance: FastifyInstance = Fastify(settings)
  answerErrors(instance)
  if (origins) {
    const origin = (value: string | undefined, done: (error: null, allow: boolean) => void): void =>
      done(null, value !== undefined && allowed(value))
    await instance.register(cors, { ...CORS, origin, strictPreflight: false })
  }
  if (guarded) {
    const remedy = origins ? 'set http.keys to serve other names' : 'call it by one of these'
    instance.addHook('onRequest', async (request) => guardLoopback(request, allowed, remedy))
  }
  await addWebSockets(instance)
  return instance
}

/**
 * Opens a listener and returns the address with the real port. `setting` is the place in the config, for the
 * EdgeError: `address_in_use` or `address_unavailable`.
 */
export async function openListener(
  instance: FastifyInstance,
  wanted: Address,
  setting: string,
): Promise<Address> {
  try {
    await instance.listen({ host: wanted.host, port: wanted.port })
  } catch (cause) {
    throw bindError(cause, wanted, setting)
  }
  const bound = instance.server.address()
  const port = isObject(bound) && typeof bound.port === 'number' ? bound.port : wanted.port
  return toAddress(wanted.host, port) ?? wanted
}

function bindError(cause: unknown, wanted: Address, setting: string): unknown {
  const code = isObject(cause) ? cause.code : undefined
  if (code === 'EADDRINUSE') {
    const message = `${setting}: ${wanted} is in use already; stop what listens there, or set ${setting} to another port`
    return new EdgeError('address_in_use', message, { cause })
  }
  if (code === 'EADDRNOTAVAIL') {
    const message = `${setting}: ${wanted.host} is no address of this machine; set ${setting} to one that is`
    return new EdgeError('address_unavailable', message, { cause })
  }
  if (code === 'EACCES') {
    const message = `${setting}: this user may not listen on port ${wanted.port}; set ${setting} to a port from 1024 up`
    return new EdgeError('address_unavailable', message, { cause })
  }
  return cause
}
