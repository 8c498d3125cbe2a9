/** The store against a real server: the contract, what lies in Redis, and what others put there. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { checkRecoveryStore } from '../../../../core/testing/recovery-store.ts'
import { Entries } from '../../../../plugins/redis-recovery/entry.ts'
import { identityOf, routeText } from '../../../../plugins/redis-recovery/pure/route-bytes.ts'
import { skipWithout } from '../../../needs.ts'
import { RedisServer } from '../../../peers/redis-server.ts'
import { ADVERTISED, CLIENT, nth, route, SECRET, startStore } from './rig.ts'

/** As if so many milliseconds had passed for every key. */
const AGE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key) - tonumber(ARGV[1])
  if left > 0 then redis.call('PEXPIRE', key, left) else redis.call('DEL', key) end
end`

const entries = new Entries(SECRET, 'earshot:')
const FLOW = identityOf(ADVERTISED, CLIENT)
const KEY = entries.key(FLOW)

describe('redis-recovery with one server', { skip: skipWithout('redis') }, () => {
  let server: RedisServer
  before(async () => {
    server = await RedisServer.start()
  })
  after(() => server[Symbol.asyncDispose]())

  checkRecoveryStore('redis', async () => {
    await server.command('FLUSHALL')
    const rig = await startStore({ url: server.url })
    await rig.connected()
    return {
      store: rig.store,
      advance: async (ms) => {
        await server.command('EVAL', AGE, 0, ms)
      },
      close: async () => rig[Symbol.asyncDispose](),
    }
  })

  it('writes many flows in batches, the newest of each, for 30 s', async () => {
    await server.command('FLUSHALL')
    await using rig = await startStore({ url: server.url })
    await rig.connected()
    for (let i = 0; i < 300; i++) {
      rig.store.remember(ADVERTISED, nth(i), route('10.0.0.9:4000'))
      rig.store.remember(ADVERTISED, nth(i), route())
    }
    await rig.known(nth(299))
    assert.equal(await server.command('DBSIZE'), 300)
    assert.equal(await rig.metric('commands', { command: 'set', outcome: 'ok' }), 300)
    assert.equal(await rig.metric('batch_size_count'), 3)
    const left = Number(await server.command('PTTL', entries.key(identityOf(ADVERTISED, nth(0)))))
    assert.ok(left > 25_000 && left <= 30_000, `${left} ms are left`)
  })

  it('lists no clients and no addresses in its keys', async () => {
    await server.command('FLUSHALL')
    await using rig = await startStore({ url: server.url, keyPrefix: 'edge-1/' })
    await rig.connected()
    rig.store.remember(ADVERTISED, CLIENT, route())
    await rig.known()
    assert.deepEqual(await server.command('KEYS', '*'), [new Entries(SECRET, 'edge-1/').key(FLOW)])
  })

  it('reads poisoned, truncated and foreign values as none, and goes on', async () => {
    await using rig = await startStore({ url: server.url })
    await rig.connected()
    const good = entries.value(FLOW, routeText(route()))
    const elsewhere = identityOf(ADVERTISED, nth(1))
    const bad: Record<string, Buffer> = {
      empty: Buffer.of(),
      truncated: good.subarray(0, 20),
      'made up': Buffer.concat([good.subarray(0, 29), Buffer.alloc(16)]),
      "another client's": entries.value(elsewhere, routeText(route())),
      'of another secret': new Entries('00'.repeat(32), 'earshot:').value(
        FLOW,
        routeText(route('6.6.6.6:4000')),
      ),
      text: Buffer.from('10.0.0.5:4000'),
      long: Buffer.alloc(1_000_000, 1),
    }
    let unreadable = 0
    for (const [what, value] of Object.entries(bad)) {
      await server.command('SET', KEY, value)
      assert.equal(await rig.recall(), undefined, what)
      assert.equal(await rig.metric('commands', { command: 'get', outcome: 'unreadable' }), ++unreadable)
    }
    await server.command('SET', KEY, good)
    assert.equal((await rig.recall())?.transceiver.toString(), '10.0.0.5:4000')
    await server.command('DEL', KEY)
    await server.command('LPUSH', KEY, 'a list')
    await assert.rejects(rig.recall(), /WRONGTYPE/)
    rig.store.remember(ADVERTISED, CLIENT, route())
    await rig.known()
  })

  it('deletes by compare: what another relay wrote in the meantime stays', async () => {
    await server.command('FLUSHALL')
    await using one = await startStore({ url: server.url })
    await using other = await startStore({ url: server.url })
    await Promise.all([one.connected(), other.connected()])
    one.store.remember(ADVERTISED, CLIENT, route())
    await other.known()
    other.store.remember(ADVERTISED, CLIENT, route('10.0.0.6:4000'))
    await one.known(CLIENT, '10.0.0.6:4000')
    one.store.forget(ADVERTISED, CLIENT, route().transceiver)
    await eventually('it was tried', async () => (await one.metric('commands', { command: 'forget' })) === 1)
    assert.equal((await other.recall())?.transceiver.toString(), '10.0.0.6:4000')
    other.store.forget(ADVERTISED, CLIENT, route('10.0.0.6:4000').transceiver)
    await eventually('it is gone', async () => (await one.recall()) === undefined)
  })

  it('writes what waits before it closes', async () => {
    await server.command('FLUSHALL')
    const rig = await startStore({ url: server.url })
    await rig.connected()
    for (let i = 0; i < 300; i++) rig.store.remember(ADVERTISED, nth(i), route())
    await rig.host.close()
    assert.equal(await server.command('DBSIZE'), 300)
    rig.store.remember(ADVERTISED, CLIENT, route())
    await rig[Symbol.asyncDispose]()
    assert.equal(await server.command('DBSIZE'), 300, 'nothing is written after it closed')
  })
})
