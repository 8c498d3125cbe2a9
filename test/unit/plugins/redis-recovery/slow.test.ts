/** A server whose answers a test holds back: what is under way is bounded, and what it says in the end does no harm. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventually } from '../../../../core/testing/check.ts'
import { bulk, FakeRedis } from '../../../peers/fake-redis.ts'
import { ADVERTISED, CLIENT, nth, route, startStore } from './rig.ts'

/** Longer than any of these tests. */
const PATIENT = { commandTimeoutMs: 60_000 }
const BATCH = 128
const LOOK_UPS = 256

const hold = (): undefined => undefined

describe('redis-recovery with a server that is slow to answer', () => {
  it('sends one batch at a time, and then the newest of each flow', async (t) => {
    await using server = await FakeRedis.start(hold)
    await using rig = await startStore({ url: server.url, ...PATIENT })
    await rig.connected()
    for (let i = 0; i < 200; i++) rig.store.remember(ADVERTISED, nth(i), route('10.0.0.1:4000'))
    await eventually('the first batch came', () => server.count('SET') === BATCH)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    for (let i = 0; i < 200; i++) {
      for (let port = 4001; port < 4010; port++)
        rig.store.remember(ADVERTISED, nth(i), route(`10.0.0.1:${port}`))
    }
    // Longer than writes are collected: whatever would be sent has been sent.
    t.mock.timers.tick(1000)
    t.mock.timers.reset()
    server.release('+OK\r\n', BATCH - 1)
    assert.equal(await rig.metric('queued'), 200)
    const read = rig.recall()
    await eventually('the look-up came', () => server.count('GET') === 1)
    assert.equal(server.count('SET'), BATCH, 'no second batch while one answer is missing')
    server.release('+OK\r\n', 1)
    server.release('$-1\r\n', 1)
    assert.equal(await read, undefined)
    await eventually('the second batch came', () => server.count('SET') === 2 * BATCH)
    server.release('+OK\r\n')
    await eventually('the third came', () => server.count('SET') === BATCH + 200)
    server.release('+OK\r\n')
    await eventually(
      'all is written',
      async () => (await rig.metric('commands', { outcome: 'ok' })) === BATCH + 201,
    )
    const values = server.commands.slice(BATCH).filter(([name]) => name === 'SET')
    for (const [, , value] of values) assert.equal(Buffer.from(value!, 'latin1').readUInt16BE(17), 4009)
  })

  it('has so many look-ups under way and no more, whether their callers still wait or not', async () => {
    await using server = await FakeRedis.start(hold)
    await using rig = await startStore({ url: server.url, ...PATIENT })
    await rig.connected()
    const caller = new AbortController()
    const asked = Array.from({ length: LOOK_UPS }, () => rig.store.recall(ADVERTISED, CLIENT, caller.signal))
    const outcomes = Promise.allSettled(asked)
    await assert.rejects(rig.recall(), /too many look-ups/)
    await eventually('they came', () => server.count('GET') === LOOK_UPS)
    caller.abort()
    assert.ok((await outcomes).every(({ status }) => status === 'rejected'))
    await assert.rejects(rig.recall(), /too many look-ups/)
    assert.equal(await rig.metric('look_ups_in_flight'), LOOK_UPS)
    assert.equal(await rig.metric('commands', { command: 'get', outcome: 'busy' }), 2)
    server.release('$-1\r\n')
    await eventually('all are over', async () => (await rig.metric('look_ups_in_flight')) === 0)
    assert.equal(server.count('GET'), LOOK_UPS)
  })

  it('closes within its bound though nothing is answered', async () => {
    await using server = await FakeRedis.start(hold)
    const rig = await startStore({ url: server.url, ...PATIENT })
    await rig.connected()
    rig.store.remember(ADVERTISED, CLIENT, route())
    await eventually('the write came', () => server.count('SET') === 1)
    const startedAt = performance.now()
    await rig.host.close()
    assert.ok(performance.now() - startedAt < 30_000, 'it did not wait for the time-out of 60 s')
    await rig[Symbol.asyncDispose]()
  })

  it('waits while the server loads its data', async () => {
    let isLoading = true
    const info = `loading:1\r\nloading_eta_seconds:0.01`
    await using server = await FakeRedis.start(([name]) =>
      name === 'INFO' && isLoading
        ? bulk(info)
        : name === 'GET'
          ? '$-1\r\n'
          : name === 'SET'
            ? '+OK\r\n'
            : undefined,
    )
    await using rig = await startStore({ url: server.url })
    rig.store.remember(ADVERTISED, CLIENT, route())
    await assert.rejects(rig.recall(), /redis is away/)
    assert.deepEqual(server.commands, [])
    isLoading = false
    await rig.connected()
    await eventually('the write came', () => server.count('SET') === 1)
    assert.equal(await rig.recall(), undefined)
  })
})

describe('redis-recovery with a server that is none', () => {
  for (const [what, said] of Object.entries({
    'another protocol': 'HTTP/1.1 400 Bad Request\r\n\r\n',
    'an endless answer': `$999999999\r\n${'x'.repeat(1000)}`,
    'a list where a text belongs': '*2\r\n+a\r\n+b\r\n',
  })) {
    it(`outlives ${what}`, async () => {
      const answers = [said]
      await using server = await FakeRedis.start(([name]) =>
        name === 'GET' ? (answers.pop() ?? '$-1\r\n') : name === 'SET' ? '+OK\r\n' : undefined,
      )
      await using rig = await startStore({ url: server.url, commandTimeoutMs: 50 })
      await rig.connected()
      const found = await rig.recall().catch((error: unknown) => error)
      assert.ok(found === undefined || found instanceof Error, `it found ${JSON.stringify(found)}`)
      await eventually(
        'it goes on, over a new connection if need be',
        async () => {
          rig.store.remember(ADVERTISED, CLIENT, route())
          return server.count('SET') > 0 && (await rig.recall().catch(() => null)) === undefined
        },
        10_000,
      )
    })
  }
})
