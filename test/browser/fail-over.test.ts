/**
 * A browser sings into a call whose relay is killed and started again, or whose balancer moves it to another relay, with
 * Redis and without, and with Redis killed before, during and after. The call never drops, and the tune is whole again.
 */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { inRedis } from '../integration/support/poisoned.ts'
import { skipWithout } from '../needs.ts'
import { RedisServer } from '../peers/redis-server.ts'
import type { RelayProcess } from '../peers/relay-process.ts'
import { withoutChromium } from './chromium.ts'
import { DEMO_SOURCE } from './demo-call.ts'
import { type Cost, costLine, FailOverCall } from './fail-over-call.ts'
import { hearTune } from './recorder.ts'

/** Kills the relay while checks are held, and starts it again. */
async function restart(call: FailOverCall, relay: RelayProcess): Promise<void> {
  call.hop.holdsChecks = true
  relay.kill()
  await relay.restart()
}

function rehash(call: FailOverCall, relay: RelayProcess): void {
  call.hop.holdsChecks = true
  call.hop.leadTo(relay.address)
}

function report(t: TestContext, cost: Cost, what: string): void {
  t.diagnostic(costLine(cost, what))
  assert.ok(cost.lostUp >= 1, 'something was lost, and counted')
}

async function assertWhole({ page, complaints }: FailOverCall): Promise<void> {
  assert.deepEqual(await hearTune(page, DEMO_SOURCE), [])
  assert.deepEqual(complaints, [])
}

describe('a browser’s call outlives its relay', { skip: withoutChromium() }, () => {
  it('without Redis: by its next check', async (t) => {
    await using call = await FailOverCall.open()
    const { a, b } = call
    report(
      t,
      await call.measure(
        a,
        () => restart(call, a),
        () => call.assertByCheck(a),
      ),
      'relay restarted, no Redis',
    )
    report(
      t,
      await call.measure(
        b,
        () => rehash(call, b),
        () => call.assertByCheck(b),
      ),
      'rehashed, no Redis',
    )
    await assertWhole(call)
  })

  it('with Redis: before any check, and by its next check where Redis is killed', {
    skip: skipWithout('redis'),
  }, async (t) => {
    await using redis = await RedisServer.start()
    await using call = await FailOverCall.open(inRedis(redis))
    const { a, b } = call
    await b.logged('redis is connected')
    const restarted = await call.measure(
      a,
      () => restart(call, a),
      () => call.assertBeforeCheck(a),
    )
    report(t, restarted, 'relay restarted, Redis up')
    const rehashed = await call.measure(
      b,
      () => rehash(call, b),
      () => call.assertBeforeCheck(b),
    )
    report(t, rehashed, 'rehashed, Redis up')
    const after = await call.measure(
      b,
      () => redis.kill(),
      () => call.flows(b),
    )
    t.diagnostic(costLine(after, 'Redis killed after'))
    assert.deepEqual([after.lostUp, after.lost], [0, 0])
    await assertWhole(call)
    const before = await call.measure(
      b,
      () => restart(call, b),
      () => call.assertByCheck(b),
    )
    report(t, before, 'relay restarted, Redis killed before')
    await redis.start()
    const strike = () => Promise.all([redis.kill(), restart(call, b)])
    const during = await call.measure(b, strike, () => call.assertByCheck(b))
    report(t, during, 'relay restarted, Redis killed during')
    await assertWhole(call)
  })
})
