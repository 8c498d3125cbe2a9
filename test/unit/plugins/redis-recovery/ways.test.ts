/** The ways to Redis: TLS, ACL users, sentinels that fail over, a cluster. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { skipWithout } from '../../../needs.ts'
import { RedisServer } from '../../../peers/redis-server.ts'
import { redisTlsFiles } from '../../../peers/redis-tls.ts'
import { MASTER_NAME, startRedisCluster, startSentinelGroup } from '../../../peers/redis-topology.ts'
import { ADVERTISED, CLIENT, nth, type Rig, route, startStore } from './rig.ts'

const skip = skipWithout('redis')

/** What the README says an ACL user needs. */
const RIGHTS = '~earshot:* -@all +get +getrange +set +del +eval +info +select +client|setname'

async function works(rig: Rig): Promise<void> {
  await rig.connected()
  rig.store.remember(ADVERTISED, CLIENT, route())
  await rig.known()
  rig.store.forget(ADVERTISED, CLIENT, route().transceiver)
  await eventually('it is forgotten', async () => (await rig.recall()) === undefined)
}

/** Waits for the warning that Redis is away; it is the only line. */
async function away(rig: Rig, reason: RegExp): Promise<void> {
  await eventually('it is told', () => rig.lines().length > 0, 10_000)
  assert.match(String(rig.lines()[0]!.reason), reason)
  assert.equal(rig.lines()[0]!.level, 40)
}

describe('redis-recovery over TLS', { skip, concurrency: 4 }, () => {
  it('trusts the authority it is told, and no other', async () => {
    await using files = await redisTlsFiles()
    await using server = await RedisServer.start({ tls: files })
    await using rig = await startStore({ url: server.url, tls: { ca: files.ca } })
    await works(rig)
    await using stranger = await startStore({ url: server.url })
    await away(stranger, /self-signed certificate/)
  })

  it('shows a certificate of its own, and checks the name that it is told', async () => {
    await using files = await redisTlsFiles(['redis.internal'])
    await using server = await RedisServer.start({ tls: files, config: { 'tls-auth-clients': 'yes' } })
    const { ca, clientCert: cert, clientKey: key } = files
    await using rig = await startStore({
      url: server.url,
      tls: { ca, cert, key, servername: 'redis.internal' },
    })
    await works(rig)
    await using wrongName = await startStore({ url: server.url, tls: { ca, cert, key } })
    await away(wrongName, /does not match certificate/)
    await using unknown = await startStore({ url: server.url, tls: { ca, servername: 'redis.internal' } })
    await away(unknown, /./)
  })
})

describe('redis-recovery over TLS, when its certificate is renewed', { skip, concurrency: 4 }, () => {
  const authClients = { config: { 'tls-auth-clients': 'yes' } }

  it('shows the new one the next time it connects', async () => {
    await using files = await redisTlsFiles()
    await using server = await RedisServer.start({ tls: files, ...authClients })
    const { ca, clientCert: cert, clientKey: key } = files
    await using rig = await startStore({ url: server.url, tls: { ca, cert, key } })
    await works(rig)
    await files.renewClient()
    await works(rig)
    await server.stop()
    await server.start()
    await works(rig)
    assert.deepEqual(
      rig
        .lines()
        .filter(({ msg }) => /TLS files/.test(msg))
        .map(({ level }) => level),
      [30],
    )
  })

  it('shows the new one to the nodes of a cluster', async () => {
    await using files = await redisTlsFiles()
    await using cluster = await startRedisCluster(1, files)
    const { ca, clientCert: cert, clientKey: key } = files
    await using rig = await startStore({ cluster: { hosts: [...cluster.hosts] }, tls: { ca, cert, key } })
    await works(rig)
    await files.renewClient()
    const [node] = cluster.servers
    await node!.stop()
    await node!.start()
    await works(rig)
  })
})

describe('redis-recovery as an ACL user', { skip, concurrency: 4 }, () => {
  const users = { default: 'off', relay: `on >s3cret-word ${RIGHTS}`, admin: 'on >adm1n-word ~* +@all' }

  it('needs the rights that the README lists, and no more', async () => {
    await using server = await RedisServer.start({ users })
    await using rig = await startStore({ url: `redis://relay:s3cret-word@127.0.0.1:${server.port}` })
    await works(rig)
    await using apart = await startStore({ url: server.url, username: 'relay', password: 's3cret-word' })
    await works(apart)
    assert.deepEqual(
      [rig, apart].flatMap((each) => each.lines().map(({ msg }) => msg)),
      ['redis is connected', 'redis is connected'],
    )
  })

  it('tells of a wrong password once, of a missing one once, and never shows one', async () => {
    await using server = await RedisServer.start({ users })
    await using wrong = await startStore({ url: `redis://relay:wr0ng-word@127.0.0.1:${server.port}` })
    await using none = await startStore({ url: server.url })
    await away(wrong, /^WRONGPASS/)
    await away(none, /^NOAUTH/)
    await assert.rejects(wrong.recall(), /redis is away/)
    await using admin = await server.client({ username: 'admin', password: 'adm1n-word' })
    await eventually(
      'both have tried several times',
      async () => Number(/total_connections_received:(\d+)/.exec(await admin.redis.info('stats'))?.[1]) >= 8,
      10_000,
    )
    assert.equal(wrong.lines().length, 1)
    assert.equal(none.lines().length, 1)
    assert.ok(!JSON.stringify(wrong.host.logs).includes('wr0ng-word'))
  })
})

describe('redis-recovery with sentinels', { skip, concurrency: 4 }, () => {
  it('follows the master when it fails over', async () => {
    await using group = await startSentinelGroup()
    await using rig = await startStore({
      sentinel: { name: MASTER_NAME, hosts: [...group.hosts], tls: false },
      commandTimeoutMs: 200,
    })
    await works(rig)
    const [master, replica] = group.servers
    await master!.kill()
    await eventually(
      'the replica is master and knows the flow',
      async () => {
        rig.store.remember(ADVERTISED, CLIENT, route('10.0.0.6:4000'))
        return (await rig.recall().catch(() => undefined)) !== undefined
      },
      20_000,
    )
    assert.match(String(await replica!.command('INFO', 'replication')), /role:master/)
    await eventually('it is told that it is back', () => rig.lines().length >= 3, 10_000)
    const told = rig.lines().map(({ level }) => level)
    assert.deepEqual(told, [30, 40, 30], JSON.stringify(rig.lines()))
  })

  it('waits for sentinels that are not there yet', async () => {
    await using probe = await RedisServer.start()
    const { port } = probe
    await probe.stop()
    await using rig = await startStore({
      sentinel: { name: MASTER_NAME, hosts: [`127.0.0.1:${port}`], tls: false },
    })
    await away(rig, /sentinel/)
    await using master = await RedisServer.start()
    await using _ = await RedisServer.start({
      port,
      sentinel: [`monitor ${MASTER_NAME} 127.0.0.1 ${master.port} 1`],
    })
    await works(rig)
  })
})

describe('redis-recovery with a cluster', { skip, concurrency: 4 }, () => {
  it('spreads keys over three masters, forgets by compare, and outlives the loss of one', async () => {
    await using cluster = await startRedisCluster()
    await using rig = await startStore({ cluster: { hosts: [cluster.hosts[0]!] } })
    await works(rig)
    for (let i = 0; i < 90; i++) rig.store.remember(ADVERTISED, nth(i), route())
    for (let i = 0; i < 90; i++) await rig.known(nth(i))
    for (const { port } of cluster.servers) {
      const server = cluster.servers.find((each) => each.port === port)!
      assert.ok(Number(await server.command('DBSIZE')) > 0, 'each node has some')
    }
    assert.equal(await rig.metric('commands', { command: 'set', outcome: 'ok' }), 91)

    const [, , third] = cluster.servers
    await third!.kill()
    await eventually(
      'its loss is noticed',
      async () => {
        for (let i = 0; i < 90; i++) rig.store.remember(ADVERTISED, nth(i), route('10.0.0.6:4000'))
        return rig.lines().some(({ level }) => level === 40)
      },
      20_000,
    )
    await third!.start()
    for (let i = 0; i < 90; i++) {
      await eventually(
        `client ${i} is known anew`,
        async () => {
          rig.store.remember(ADVERTISED, nth(i), route('10.0.0.7:4000'))
          return (await rig.recall(nth(i)).catch(() => undefined))?.transceiver.toString() === '10.0.0.7:4000'
        },
        20_000,
      )
    }
  })
})
