/**
 * The ioredis client that the options ask for, not connected yet. It never queues what it cannot send, never sends a
 * command twice, drops a connection that went silent, and tries again for ever.
 */

import { Cluster, Command, Redis } from 'ioredis'
import { EdgeError } from '../../core/index.ts'
import type { RedisOptions } from './options.ts'
import { backOff } from './pure/back-off.ts'
import { areSlots } from './pure/cluster-slots.ts'
import { type Host, parseHost, parseRedisUrl } from './pure/redis-url.ts'
import { TlsFiles } from './tls-files.ts'

/** One server, the master that sentinels name, or a cluster. */
export type Client = Redis | Cluster

/** After a replica refused a write, the connection is made anew, since the master may have moved: at most this often. */
const MOVED_AGAIN_MS = 5_000

/** How long a connection may owe an answer until it is made anew. Milliseconds. */
export function silenceMs({ commandTimeoutMs }: RedisOptions): number {
  return 4 * commandTimeoutMs
}

// Of CLUSTER's answers only INFO's is a text. What throws here is to ioredis as if the server had answered an error.
Command.setReplyTransformer('cluster', (answer) => {
  if (typeof answer === 'string' || areSlots(answer)) return answer
  throw new Error('a node of the cluster told of slots that cannot be')
})

/** The TLS files that the options name; undefined without TLS. Rejects with EdgeError `config_invalid` for bad ones. */
export async function tlsFiles({ url, tls }: RedisOptions): Promise<TlsFiles | undefined> {
  return tls || url?.startsWith('rediss:') ? TlsFiles.load(tls ?? {}) : undefined
}

/** Makes a client as the options say; it connects when it is told to. */
export function createClient(options: RedisOptions, files: TlsFiles | undefined): Client {
  const tls = files?.settings
  const wait = (times: number): number => backOff(times, Math.random())
  if (options.cluster) {
    return new Cluster(options.cluster.hosts.map(toHost), {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: wait,
      slotsRefreshTimeout: options.connectTimeoutMs,
      redisOptions: { ...common(options), ...credentials(options), ...(tls ? { tls } : {}) },
    })
  }
  const base = {
    ...common(options),
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: wait,
    reconnectOnError: afterReadOnly(),
    db: options.db ?? 0,
    ...credentials(options),
    ...(tls ? { tls } : {}),
  }
  if (options.sentinel) return new Redis({ ...base, ...sentinel(options.sentinel, tls, options) })
  const url = parseRedisUrl(options.url ?? '')
  if (typeof url === 'string') throw new EdgeError('config_invalid', `url ${url}`)
  const { isTls, ...server } = url
  return new Redis({ ...base, ...server })
}

/** Where it leads, for the log: without passwords. */
export function whereTo(options: RedisOptions): string {
  if (options.cluster) return `cluster ${options.cluster.hosts.join(', ')}`
  if (options.sentinel) return `${options.sentinel.name} of sentinels ${options.sentinel.hosts.join(', ')}`
  const url = parseRedisUrl(options.url ?? '')
  return typeof url === 'string' ? '' : `${url.host}:${url.port}`
}

function common(options: RedisOptions) {
  const { commandTimeoutMs, connectTimeoutMs } = options
  return {
    // All that is used here is in RESP2, and HELLO would ask for rights of its own.
    protocol: 2 as const,
    disableClientInfo: true,
    connectionName: 'earshot',
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    // A server that hangs does not answer a farewell either.
    disconnectTimeout: 100,
    // commandTimeout gives up on an answer, not on the connection: a server that hangs would be sent ever more.
    socketTimeout: silenceMs(options),
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxLoadingRetryTime: 1_000,
  }
}

function credentials({ username, password }: RedisOptions) {
  return { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) }
}

function sentinel(
  { name, hosts, username, password, tls: isTls }: NonNullable<RedisOptions['sentinel']>,
  tls: TlsFiles['settings'] | undefined,
  { commandTimeoutMs }: RedisOptions,
) {
  return {
    name,
    sentinels: hosts.map(toHost),
    sentinelCommandTimeout: commandTimeoutMs,
    // It would wait inside ioredis, where nothing can end it; the link tries again instead.
    sentinelRetryStrategy: () => null,
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(tls ? { enableTLSForSentinelMode: true } : {}),
    ...(tls && isTls ? { sentinelTLS: tls } : {}),
  }
}

/** True when an error means that we talk to a replica, not too often: a URL may just name one. */
function afterReadOnly(): (error: Error) => boolean {
  let last = Number.NEGATIVE_INFINITY
  return (error) => {
    if (!error.message.startsWith('READONLY') || performance.now() - last < MOVED_AGAIN_MS) return false
    last = performance.now()
    return true
  }
}

function toHost(text: string): Host {
  const host = parseHost(text)
  if (!host) throw new EdgeError('config_invalid', `"${text}" is not a host:port`)
  return host
}
