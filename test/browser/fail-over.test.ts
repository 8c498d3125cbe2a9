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

/** Chromium sends no media when its checks have gone unanswered for 5 s: a restart must leave time before that. */
const SENDS_FOR_MS = 4000

const TRIES = 5

type Then = (call: FailOverCall, relay: RelayProcess) => Promise<void>

const beforeCheck: Then = (call, relay) => call.assertBeforeCheck(relay)
const byCheck: Then = (call, relay) => call.assertByCheck(relay)

/**
 * Kills the relay just after a check, holds checks, starts it again and measures what that costs until media flows
 * again. Where the machine takes so long over it that Chromium falls silent, a check alone can bring the call back: if
 * that is not what the test is about, it is done again.
 */
async function restart(
  call: FailOverCall,
  relay: RelayProcess,
  then: Then,
  besides: () => Promise<void> = async () => {},
): Promise<Cost> {
  for (let left = TRIES; ; left--) {
    await call.checked()
    const startedAt = performance.now()
    let tookMs = 0
    const strike = async (): Promise<void> => {
      call.hop.holdsChecks = true
      relay.kill()
      await Promise.all([besides(), relay.restart()])
      tookMs = performance.now() - startedAt
    }
    const cost = await call.measure(relay, strike, () =>
      tookMs < SENDS_FOR_MS ? then(call, relay) : call.checkAgain(relay),
    )
    if (tookMs < SENDS_FOR_MS || then === byCheck) return cost
    assert.ok(left > 1, `a relay takes ${Math.round(tookMs)} ms to start on this machine`)
  }
}

/** Moves the client to another relay just after a check, holds checks, and measures what that costs. */
async function rehash(call: FailOverCall, relay: RelayProcess, then: Then): Promise<Cost> {
  await call.checked()
  const strike = (): void => {
    call.hop.holdsChecks = true
    call.hop.leadTo(relay.address)
  }
  return call.measure(relay, strike, () => then(call, relay))
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
    report(t, await restart(call, call.a, byCheck), 'relay restarted, no Redis')
    report(t, await rehash(call, call.b, byCheck), 'rehashed, no Redis')
    await assertWhole(call)
  })

  const redisToo = { skip: skipWithout('redis') }
  it('with Redis: before any check, and by its next check where Redis is killed', redisToo, async (t) => {
    await using redis = await RedisServer.start()
    await using call = await FailOverCall.open(inRedis(redis))
    const { a, b } = call
    await b.logged('redis is connected')
    report(t, await restart(call, a, beforeCheck), 'relay restarted, Redis up')
    report(t, await rehash(call, b, beforeCheck), 'rehashed, Redis up')
    const kill = (): Promise<void> => redis.kill()
    const after = await call.measure(b, kill, () => call.checked())
    t.diagnostic(costLine(after, 'Redis killed after'))
    assert.deepEqual([after.lostUp, after.lost], [0, 0])
    await assertWhole(call)
    report(t, await restart(call, b, byCheck), 'relay restarted, Redis killed before')
    await redis.start()
    report(t, await restart(call, b, byCheck, kill), 'relay restarted, Redis killed during')
    await assertWhole(call)
  })
})
