/** What befalls Redis: it changes how fast a call is recovered, and the log says each change once. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { skipWithout } from '../../../needs.ts'
import { freePort } from '../../../peers/free-port.ts'
import { RedisServer } from '../../../peers/redis-server.ts'
import { ADVERTISED, CLIENT, nth, type Rig, route, startStore } from './rig.ts'

const skip = skipWithout('redis')

/** What was told, as levels and messages. */
const told = (rig: Rig): string[] => rig.lines().map(({ msg }) => msg.replace(/:.*/, ''))

const untilTold = (rig: Rig, ...messages: string[]): Promise<void> =>
  eventually(
    `it told ${messages.join(', ')}`,
    () => JSON.stringify(told(rig)) === JSON.stringify(messages),
    15_000,
  ).catch((error) => {
    assert.deepEqual(told(rig), messages, JSON.stringify(rig.lines()))
    throw error
  })

describe('redis-recovery when Redis', { skip, concurrency: 4 }, () => {
  it('is down at the start and comes up: what was noted in the meantime is written', async () => {
    const port = await freePort()
    await using rig = await startStore({ url: `redis://127.0.0.1:${port}` })
    rig.store.remember(ADVERTISED, CLIENT, route())
    await assert.rejects(rig.recall(), /redis is away/)
    await untilTold(rig, 'redis is away')
    assert.match(String(rig.lines()[0]!.reason), /ECONNREFUSED/)
    assert.equal(await rig.metric('queued'), 1)
    await using server = await RedisServer.start({ port })
    await rig.known()
    assert.ok(Number(await server.command('DBSIZE')) === 1)
    await untilTold(rig, 'redis is away', 'redis is back')
    assert.ok(Number(rig.lines()[1]!.awayMs) > 0)
  })

  it('is killed and started again, twice in a row: told once away and once back', async () => {
    await using server = await RedisServer.start()
    await using rig = await startStore({ url: server.url })
    rig.store.remember(ADVERTISED, CLIENT, route())
    await rig.known()
    for (const transceiver of ['10.0.0.6:4000', '10.0.0.7:4000']) {
      await server.kill()
      await eventually('it is gone', async () => (await rig.metric('connected')) === 0)
      for (let i = 0; i < 50; i++) {
        rig.store.remember(ADVERTISED, CLIENT, route(transceiver))
        await assert.rejects(rig.recall())
      }
      await server.start()
      await rig.known(CLIENT, transceiver)
    }
    await untilTold(rig, 'redis is connected', 'redis is away', 'redis is back')
    assert.equal(await rig.metric('outages'), 1)
    assert.ok((await rig.metric('commands', { outcome: 'away' })) >= 100)
  })

  it('is paused: look-ups end in time, one batch waits, and all goes on afterwards', async () => {
    await using server = await RedisServer.start()
    // The pause is shorter than four time-outs, so that the connection stays.
    await using rig = await startStore({ url: server.url, commandTimeoutMs: 300 })
    await rig.connected()
    await server.command('CLIENT', 'PAUSE', 1100, 'ALL')
    rig.store.remember(ADVERTISED, CLIENT, route())
    await assert.rejects(rig.recall(), /timed out/)
    await eventually('the write gave up', async () => {
      return (await rig.metric('commands', { command: 'set', outcome: 'timed_out' })) === 1
    })
    // As the relay's next refresh: what timed out is not sent again.
    rig.store.remember(ADVERTISED, CLIENT, route())
    await rig.known()
    await untilTold(rig, 'redis is connected', 'redis is away', 'redis is back')
  })

  it('hangs with its connections open: they are dropped, and made anew when it is there again', async () => {
    await using server = await RedisServer.start()
    await using rig = await startStore({ url: server.url, commandTimeoutMs: 50 })
    await rig.connected()
    server.freeze()
    await assert.rejects(rig.recall(), /timed out/)
    await eventually('the connection is dropped', async () => (await rig.metric('connected')) === 0, 10_000)
    rig.store.remember(ADVERTISED, CLIENT, route())
    server.thaw()
    await rig.known()
    await untilTold(rig, 'redis is connected', 'redis is away', 'redis is back')
  })

  it('is full: writes are refused, reads go on, told once', async () => {
    await using server = await RedisServer.start()
    await using rig = await startStore({ url: server.url })
    rig.store.remember(ADVERTISED, CLIENT, route())
    await rig.known()
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    for (let i = 1; i <= 5; i++) {
      rig.store.remember(ADVERTISED, nth(i), route())
      await eventually(
        'it was refused',
        async () => (await rig.metric('commands', { outcome: 'refused' })) === i,
      )
      assert.ok(await rig.recall(), 'it reads while it cannot write')
    }
    await untilTold(rig, 'redis is connected', 'redis is away')
    assert.match(String(rig.lines()[1]!.reason), /^OOM/)
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    rig.store.remember(ADVERTISED, nth(1), route())
    await rig.known(nth(1))
    await untilTold(rig, 'redis is connected', 'redis is away', 'redis is back')
  })

  it('is a replica: writes are refused, reads go on, told once; and once it is promoted it is written to', async () => {
    await using master = await RedisServer.start()
    await using replica = await RedisServer.start({ replicaOf: master.port })
    await using writer = await startStore({ url: master.url })
    await using rig = await startStore({ url: replica.url })
    writer.store.remember(ADVERTISED, CLIENT, route())
    await rig.known()
    for (let i = 1; i <= 3; i++) {
      rig.store.remember(ADVERTISED, nth(i), route())
      await eventually(
        'it was refused',
        async () => (await rig.metric('commands', { command: 'set' })) === i,
        5000,
      )
    }
    await rig.known()
    await untilTold(rig, 'redis is connected', 'redis is away')
    await replica.command('REPLICAOF', 'NO', 'ONE')
    rig.store.remember(ADVERTISED, nth(9), route())
    await rig.known(nth(9))
    await untilTold(rig, 'redis is connected', 'redis is away', 'redis is back')
  })

  it('is away and the queue runs over: the oldest go, the newest are written, and it is counted', async () => {
    const port = await freePort()
    await using rig = await startStore({ url: `redis://127.0.0.1:${port}`, maxQueued: 100 })
    for (let i = 0; i < 1000; i++) rig.store.remember(ADVERTISED, nth(i), route())
    assert.equal(await rig.metric('queued'), 100)
    assert.equal(await rig.metric('drops', { reason: 'overflow' }), 900)
    await using server = await RedisServer.start({ port })
    await rig.known(nth(999))
    await rig.known(nth(900))
    assert.equal(await server.command('DBSIZE'), 100)
  })

  it('is away: closing does not wait for it, and what was not written is counted', async () => {
    const port = await freePort()
    const rig = await startStore({ url: `redis://127.0.0.1:${port}` })
    rig.store.remember(ADVERTISED, CLIENT, route())
    await untilTold(rig, 'redis is away')
    await rig[Symbol.asyncDispose]()
    assert.deepEqual(told(rig), ['redis is away'])
  })

  it('refuses connections and then the password: both are told', async () => {
    const port = await freePort()
    await using rig = await startStore({ url: `redis://127.0.0.1:${port}`, password: 'old-word' })
    await untilTold(rig, 'redis is away')
    await using _ = await RedisServer.start({ port, config: { requirepass: 'new-word' } })
    await untilTold(rig, 'redis is away', 'redis is still away, for another reason')
    assert.match(String(rig.lines()[1]!.reason), /^WRONGPASS/)
  })
})
