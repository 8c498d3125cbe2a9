/**
 * The relay is killed by kill -9 in mid-call and started again, with Redis and without, and with Redis killed before,
 * during and after. The call never drops; without Redis it only waits for the next check. Every packet that was lost on
 * the way up is counted.
 */

import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { skipWithout } from '../needs.ts'
import { RedisServer } from '../peers/redis-server.ts'
import { gapLine } from './support/duplex.ts'
import { inRedis } from './support/poisoned.ts'
import { RestartedRelay } from './support/restarted-relay.ts'

async function report(t: TestContext, call: RestartedRelay, what: string): Promise<void> {
  const account = await call.account()
  t.diagnostic(gapLine(account, what))
  t.diagnostic(
    `of those up, ${account.dead} while nobody listened and ${account.early} while no route was known`,
  )
}

/** Nothing has flowed since the restart; then the client may check, and everything does. */
async function assertByCheck(call: RestartedRelay): Promise<void> {
  await call.dropped(10)
  assert.deepEqual((await call.relay.flow()).states, [])
  call.hop.holdsChecks = false
  await call.talk.exchange(20)
  assert.deepEqual((await call.relay.flow()).states, ['live'])
}

/** Media flows although no check has come by since the kill; then one confirms the route. */
async function assertBeforeCheck(call: RestartedRelay): Promise<void> {
  await call.talk.exchange(20)
  assert.deepEqual((await call.relay.flow()).states, ['recovered'])
  assert.equal(await call.relay.metric('relay_flows', { state: 'confirmed' }), 0)
  assert.equal(await call.relay.metric('relay_look_ups_total', { result: 'hit' }), 1)
  call.hop.holdsChecks = false
  await eventually('a check confirms it', async () => (await call.relay.flow()).states[0] === 'live', 5000)
}

it('without a store a restarted relay carries the call again by the next check', async (t) => {
  await using call = await RestartedRelay.open()
  await call.kill()
  await call.relay.restart()
  await assertByCheck(call)
  await report(t, call, 'relay restarted, no store')
})

describe('a restarted relay with Redis', { skip: skipWithout('redis') }, () => {
  let redis: RedisServer
  before(async () => {
    redis = await RedisServer.start()
  })
  after(() => redis?.[Symbol.asyncDispose]())

  async function open(): Promise<RestartedRelay> {
    const call = await RestartedRelay.open(inRedis(redis))
    await eventually('the call is in Redis', async () => Number(await redis.command('DBSIZE')) > 0, 10_000)
    return call
  }

  it('carries the call again once the look-up answers, before any check', async (t) => {
    await using call = await open()
    await call.kill()
    await call.relay.restart()
    await assertBeforeCheck(call)
    await report(t, call, 'relay restarted, Redis up')
  })

  it('and Redis killed after: the call goes on, checks and all', async (t) => {
    await using call = await open()
    await call.kill()
    await call.relay.restart()
    await assertBeforeCheck(call)
    await redis.kill()
    const { answered } = call.client.transport.checks!.counters
    await eventually(
      'checks are answered',
      () => call.client.transport.checks!.counters.answered > answered + 1,
      5000,
    )
    await report(t, call, 'relay restarted, Redis killed after')
    await redis.start()
  })

  it('and Redis killed before: by the next check', async (t) => {
    await using call = await open()
    await redis.kill()
    await call.kill()
    try {
      await call.relay.restart()
      await assertByCheck(call)
      assert.ok((await call.relay.metric('relay_look_ups_total', { result: 'failed' })) >= 1)
      await report(t, call, 'relay restarted, Redis killed before')
    } finally {
      await redis.start()
    }
  })

  it('and Redis killed with it and started again, empty: by the next check, and Redis knows the call again', async (t) => {
    await using call = await open()
    await Promise.all([redis.kill(), call.kill()])
    await Promise.all([redis.start(), call.relay.restart()])
    await assertByCheck(call)
    await eventually('the call is in Redis', async () => Number(await redis.command('DBSIZE')) === 1, 10_000)
    await report(t, call, 'relay restarted, Redis killed during')
  })
})
