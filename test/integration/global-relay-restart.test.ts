/**
 * The cluster's own relay, behind a global one, is restarted in mid-call and has lost its state: with a recovery store
 * the next packet brings the call back, without one the next check does.
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { opensslProblem } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { counted } from './support/metrics.ts'
import { RestartedCluster } from './support/restarted-cluster.ts'

const SETTLED = 20
const needs = { skip: opensslProblem()?.message ?? false }

for (const workers of [0, 1]) {
  const where = workers === 0 ? 'in the event loop' : 'in a thread'
  describe(`a cluster’s own relay restarted behind a global one, both ${where}`, needs, () => {
    it('with a store: the call is back with the next packet, before any check', async (t) => {
      await using call = await RestartedCluster.open(workers, true)
      const { hop, relay, talk } = call
      await call.restart(relay)
      await talk.exchange(SETTLED)
      assert.deepEqual(await call.routes(), ['recovered'])
      assert.equal(await relay.hits(), 1)
      hop.holdsChecks = false
      await eventually('a check confirms it', async () => (await call.routes())[0] === 'live', 5000)
      const dropped = await call.account(t, 'restarted behind a global relay, store up')
      assert.ok(dropped >= 1, 'the packet that starts the look-up is not kept')
    })

    it('and the global one with it, with a store: each looks the call up, and no check is needed', async (t) => {
      await using call = await RestartedCluster.open(workers, true)
      const { hop, relay, global, talk } = call
      await call.restart(relay, global)
      await talk.exchange(SETTLED)
      assert.deepEqual(await call.routes(), ['recovered'])
      assert.deepEqual([await global.hits(), await relay.hits()], [1, 1])
      hop.holdsChecks = false
      await call.account(t, 'restarted with the global relay, store up')
    })

    it('without a store: nothing goes through before a check, and everything after the first', async (t) => {
      await using call = await RestartedCluster.open(workers, false)
      const { relay, talk } = call
      await call.restart(relay)
      await counted(relay.edge, 'relay_drops', { reason: 'no_route' }, SETTLED)
      assert.deepEqual(await call.routes(), [])
      call.letOneCheckThrough()
      await talk.exchange(SETTLED)
      assert.deepEqual(await call.routes(), ['live'])
      await call.account(t, 'restarted behind a global relay, no store')
    })
  })
}
