/**
 * The relay’s rules under random packets, times and answers. `RELAY_PROPERTY_RUNS=20000 node --test …` looks for longer; a run
 * that fails prints its seed and the shortest steps that fail.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RuleKeeper } from './rule-keeper.ts'
import { GOOD, type Step, TRANSCEIVERS } from './rule-steps.ts'
import { assertWholeTables } from './whole-tables.ts'

const RUNS = Number(process.env.RELAY_PROPERTY_RUNS ?? 600)

const client = fc.nat({ max: 9 })
const socket = fc.nat({ max: 1 })
const transceiver = fc.nat({ max: TRANSCEIVERS.length - 1 })
const wait = fc.constantFrom(0, 1, 20, 500, 999, 1000, 2500, 4999, 5000, 8000, 12_999, 13_000, 29_999, 30_000)
const times = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(60) })

const step = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('check' as const),
      client,
      socket,
      ufrag: fc.oneof(
        { weight: 3, arbitrary: fc.nat({ max: GOOD + 3 }) },
        { weight: 1, arbitrary: fc.constant(0) },
      ),
      times,
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('answer' as const), client, socket, transceiver }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('up' as const),
      client,
      socket,
      what: fc.constantFrom('media', 'dtls', 'success', 'indication'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('down' as const),
      client,
      socket,
      transceiver,
      what: fc.constantFrom('media', 'dtls', 'request', 'indication', 'error'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: wait }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('garbage' as const),
      client,
      socket,
      bytes: fc.uint8Array({ maxLength: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('recover' as const), client, transceiver }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('sweep' as const), limit: fc.constantFrom(1, 3, 100) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('attach' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('crowd' as const), ufrag: fc.nat({ max: GOOD - 1 }), socket }),
  },
)

/** Just before 32 bits of milliseconds change their sign, or begin anew; or nowhere near. */
const start = fc.constantFrom(2 ** 31 - 10_000, 2 ** 32 - 10_000, 1_000_000)

/** A table that fills up, and one in which a ufrag can have too many clients. */
const maxFlows = fc.constantFrom(2, 16)

/** Few clients meet more often than many. */
const steps = fc
  .tuple(fc.constantFrom(1, 3, 10), fc.array(step, { minLength: 5, maxLength: 150, size: 'max' }))
  .map(([clients, all]) =>
    all.map((one) => ('client' in one ? { ...one, client: one.client % clients } : one)),
  )

test('rules 2 to 5 hold whatever comes, and the tables stay whole', () => {
  fc.assert(
    fc.property(start, maxFlows, steps, (now, most, all) => {
      const keeper = new RuleKeeper(now, most)
      for (const [i, one] of all.entries()) {
        keeper.do(one)
        if (i % 4 === 0) keeper.assertNobodyLostTheirCall()
        assertWholeTables(keeper.relay.state)
      }
      keeper.assertNobodyLostTheirCall()
      const { state } = keeper.relay
      for (const ms of [40_000, 40_000]) {
        keeper.relay.now += ms
        state.flows.sweep(keeper.relay.now, 10_000)
      }
      assertWholeTables(state)
      const left = [state.flows.confirmed, state.flows.unconfirmed, state.ufrags.idle]
      assert.deepEqual(left, [0, 0, 0], 'everything ends when nobody comes')
    }),
    { numRuns: RUNS },
  )
})
