/** The two listeners as the config describes them: made, opened, shut. */

import type { Socket } from 'node:net'
import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { listenAddress } from './config/check-root.ts'
import type { RootConfig } from './config/root-schema.ts'
import { connectionsWithin, descriptorLimit } from './descriptors.ts'
import { createListener, openListener } from './http.ts'
import { tlsIdentity } from './http-tls.ts'
import { within } from './time-limit.ts'
import type { Address } from './wire/address.ts'

/** The public and the admin listener. */
export interface Listeners {
  readonly http: FastifyInstance
  readonly admin: FastifyInstance
}

/** How long requests in flight may take once everything else is closed, in milliseconds. */
const LAST_REQUESTS = 2000

/** Probes, scrapers and a few operators. */
const ADMIN_CONNECTIONS = 256

/** How often connections that were cut off are told of, in milliseconds. */
const TELL_EVERY = 60_000

/** Makes both; neither listens yet. Certificate files are named relative to `folder`. */
export async function createListeners(config: RootConfig, folder: string, log: Logger): Promise<Listeners> {
  const { bodyLimit, origins, keys, tls, listen, trustProxy } = config.http
  const maxConnections = connectionsWithin(config.http.maxConnections, descriptorLimit())
  const files = tls && typeof tls === 'object'
  const placed = files ? { cert: resolve(folder, tls.cert), key: resolve(folder, tls.key) } : tls
  const keyless = Object.keys(keys).length === 0
  const http = await createListener({
    log: listenerLog(log, 'http'),
    bodyLimit,
    maxConnections,
    origins,
    trustProxy,
    tls: tlsIdentity(placed),
    guarded: keyless && addressOf(listen).isLoopback,
  })
  const admin = await createListener({
    log: listenerLog(log, 'admin'),
    bodyLimit,
    maxConnections: connectionsWithin(ADMIN_CONNECTIONS, descriptorLimit() / 4),
    guarded: config.admin !== false && addressOf(config.admin.listen).isLoopback,
  })
  for (const instance of [http, admin]) followSockets(instance)
  tellOfDrops(http, listenerLog(log, 'http'))
  return { http, admin }
}

/** Opens both, the public one last; the addresses with their real ports. `admin` is undefined when there is none. */
export async function openListeners(
  config: RootConfig,
  { http, admin }: Listeners,
): Promise<{ http: Address; admin: Address | undefined }> {
  const operators =
    config.admin === false
      ? undefined
      : await openListener(admin, addressOf(config.admin.listen), 'admin.listen')
  return { admin: operators, http: await openListener(http, addressOf(config.http.listen), 'http.listen') }
}

/** Closes a listener; requests that take too long are cut off, and so is what once was one (WebSockets). */
export async function shut(instance: FastifyInstance): Promise<void> {
  const closing = Promise.resolve(instance.close()).catch(() => {})
  await within(LAST_REQUESTS, () => closing)
  for (const socket of sockets.get(instance) ?? []) socket.destroy()
  await within(LAST_REQUESTS, () => closing)
}

/** The open connections. Node's own list leaves out what was upgraded, and a listener waits for these too. */
const sockets = new WeakMap<FastifyInstance, Set<Socket>>()

function followSockets(instance: FastifyInstance): void {
  const open = new Set<Socket>()
  sockets.set(instance, open)
  instance.server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
}

function tellOfDrops({ server }: FastifyInstance, log: Logger): void {
  let quietUntil = 0
  server.on('drop', () => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + TELL_EVERY
    const most = server.maxConnections
    log.warn(
      { most },
      'all connections are taken, and new ones are cut off; if callers need more, raise http.maxConnections and ulimit -n',
    )
  })
}

/** Fastify tells at level info that it listens; the host has its own words for that. */
function listenerLog(log: Logger, listener: string): Logger {
  const chatty = log.isLevelEnabled('info') && !log.isLevelEnabled('debug')
  return log.child({ listener }, chatty ? { level: 'warn' } : {})
}

function addressOf(listen: string): Address {
  const address = listenAddress(listen)
  if (!address) throw new Error(`not a checked address: ${listen}`)
  return address
}
