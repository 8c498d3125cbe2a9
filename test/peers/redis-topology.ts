/** Redis as it is run for availability: a master and its replica under sentinels, and a cluster of three masters. */

import { eventually } from '../../core/testing/check.ts'
import { freePort } from './free-port.ts'
import { RedisServer } from './redis-server.ts'
import type { RedisTlsFiles } from './redis-tls.ts'

/** What the sentinels call the master. */
export const MASTER_NAME = 'earshot'

/** A master, a replica and sentinels that watch them. */
export interface SentinelGroup extends AsyncDisposable {
  /** The first is the master at the start. */
  readonly servers: readonly RedisServer[]
  readonly sentinels: readonly RedisServer[]
  /** The sentinels as `host:port`. */
  readonly hosts: readonly string[]
}

/** Starts one master, one replica and `count` sentinels; they take a master for down after half a second. */
export async function startSentinelGroup(count = 1): Promise<SentinelGroup> {
  await using parts = new AsyncDisposableStack()
  const master = parts.use(await RedisServer.start())
  const replica = parts.use(await RedisServer.start({ replicaOf: master.port }))
  await eventually('the replica follows its master', async () =>
    String(await replica.command('INFO', 'replication')).includes('master_link_status:up'),
  )
  const sentinels: RedisServer[] = []
  for (let i = 0; i < count; i++) sentinels.push(parts.use(await RedisServer.start(watching(master, count))))
  await eventually(
    'each sentinel knows the replica and the others',
    async () => {
      for (const sentinel of sentinels) {
        const info = String(await sentinel.command('INFO', 'sentinel'))
        if (!info.includes(`slaves=1,sentinels=${count}`)) return false
      }
      return true
    },
    20_000,
  )
  const kept = parts.move()
  return {
    servers: [master, replica],
    sentinels,
    hosts: sentinels.map(({ port }) => `127.0.0.1:${port}`),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function watching(master: RedisServer, count: number): { sentinel: string[] } {
  const quorum = Math.floor(count / 2) + 1
  return {
    sentinel: [
      `monitor ${MASTER_NAME} 127.0.0.1 ${master.port} ${quorum}`,
      `down-after-milliseconds ${MASTER_NAME} 500`,
      `failover-timeout ${MASTER_NAME} 2000`,
    ],
  }
}

/** Three masters that share the slots, without replicas. */
export interface RedisCluster extends AsyncDisposable {
  readonly servers: readonly RedisServer[]
  /** The nodes as `host:port`. */
  readonly hosts: readonly string[]
}

const SLOTS = 16_384

/** Starts a cluster and waits until every node says that it is whole. With `tls`, its nodes want clients' certificates. */
export async function startRedisCluster(masters = 3, tls?: RedisTlsFiles): Promise<RedisCluster> {
  await using parts = new AsyncDisposableStack()
  const servers: RedisServer[] = []
  const buses: number[] = []
  for (let i = 0; i < masters; i++) {
    // The bus would be at port + 10,000, which may be taken or none.
    const bus = await freePort()
    buses.push(bus)
    const config = { 'cluster-enabled': 'yes', 'cluster-port': `${bus}`, 'cluster-node-timeout': '1000' }
    const secured = tls && {
      tls,
      // A single node hears from nobody what its own address is.
      config: {
        ...config,
        'cluster-announce-ip': '127.0.0.1',
        'tls-cluster': 'yes',
        'tls-auth-clients': 'yes',
      },
    }
    servers.push(parts.use(await RedisServer.start(secured ?? { config })))
  }
  for (const [i, server] of servers.entries()) {
    const from = Math.floor((SLOTS * i) / masters)
    const to = Math.floor((SLOTS * (i + 1)) / masters) - 1
    await server.command('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
    await server.command('CLUSTER', 'ADDSLOTSRANGE', from, to)
    if (i > 0) await servers[0]!.command('CLUSTER', 'MEET', '127.0.0.1', server.port, buses[i]!)
  }
  await eventually(
    'the cluster is whole',
    async () => {
      for (const server of servers) {
        const info = String(await server.command('CLUSTER', 'INFO'))
        if (!info.includes('cluster_state:ok') || !info.includes(`cluster_known_nodes:${masters}`))
          return false
        if (!info.includes(`cluster_size:${masters}`)) return false
      }
      return true
    },
    20_000,
  )
  const kept = parts.move()
  return {
    servers,
    hosts: servers.map(({ port }) => `127.0.0.1:${port}`),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
