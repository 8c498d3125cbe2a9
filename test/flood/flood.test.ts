/** A small flood of each kind beside five calls. `npm run flood` is the large one. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allowedCpus } from '../../core/ffi/cpus.ts'
import { libc } from '../../core/ffi/libc.ts'
import { findProgram } from '../needs.ts'
import { RedisServer } from '../peers/redis-server.ts'
import { faultsOf } from './bounds.ts'
import { FloodedRelay } from './flooded-relay.ts'
import { KINDS } from './kinds.ts'

const CALLS = 5
const RATE = 3_000
const MILLISECONDS = 250
const UNPACED = ['media from random sources', Number.POSITIVE_INFINITY] as const
/** One packet of some sixty: a neighbour may have had the processor for long. */
const MOST_LOST = 0.02

const calls = libc()
const skip = calls ? false : 'no system calls for UDP in batches here'

for (const way of ['in the event loop', 'in a thread'])
  describe(`floods on a relay ${way}`, { skip }, () => {
    it('paced: calls go on; unpaced: they are whole a second after it, and memory is bounded', async () => {
      await using redis = findProgram('redis') ? await RedisServer.start() : undefined
      const cpus = allowedCpus(calls!)
      await using relay = await FloodedRelay.start(calls!, { way, calls: CALLS, cpus, redis: redis?.url })
      for (const [kind, rate] of [...KINDS.map((kind) => [kind, RATE] as const), UNPACED]) {
        const report = await relay.under(kind, rate, MILLISECONDS)
        assert.deepEqual(faultsOf(report, MOST_LOST), [], JSON.stringify(report))
      }
      const entries = redis ? Number(await redis.command('DBSIZE')) : 0
      assert.ok(entries <= CALLS, `${entries} entries`)
    })
  })
