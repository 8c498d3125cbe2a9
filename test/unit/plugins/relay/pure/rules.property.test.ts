/**
 * The relay’s rules under random packets, times and answers, from clients themselves and through other relays.
 * `RELAY_PROPERTY_RUNS=20000 node --test …` looks for longer; a run that fails prints its seed and the shortest steps
 * that fail.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RuleKeeper } from './rule-keeper.ts'
import { ABROAD, ALL_UFRAGS, GOOD_UFRAGS, HOPS, SERVERS, type Step, UFRAGS, WAYS } from './rule-steps.ts'
import { assertWholeTables } from './whole-tables.ts'

const RUNS = Number(process.env.RELAY_PROPERTY_RUNS ?? 600)

const client = fc.nat({ max: 9 })
const way = fc.nat({ max: WAYS - 1 })
const server = fc.nat({ max: SERVERS.length - 1 })
const wait = fc.constantFrom(0, 1, 20, 500, 999, 1000, 2500, 4999, 5000, 8000, 12_999, 13_000, 29_999, 30_000)
const times = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(60) })
const ufrag = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: ALL_UFRAGS - 1 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, GOOD_UFRAGS) },
)

const step = fc.oneof<fc.MaybeWeightedArbitrary<Step>[]>(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('check' as const), client, way, ufrag, times }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('answer' as const), client, way, server }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('up' as const),
      client,
      way,
      what: fc.constantFrom('media', 'dtls', 'success', 'indication'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('down' as const),
      client,
      way,
      server,
      what: fc.constantFrom('media', 'dtls', 'request', 'indication', 'error'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: wait }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('garbage' as const),
      client,
      way,
      bytes: fc.uint8Array({ maxLength: 40 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('bad-frame' as const),
      client,
      ufrag: fc.nat({ max: UFRAGS.length - 1 }),
      hop: fc.nat({ max: HOPS.length - 1 }),
      what: fc.constantFrom('stranger', 'bare', 'cut', 'empty', 'nested', 'ourselves', 'nobody'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('recover' as const), client, way, server }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('found' as const), server: fc.nat({ max: ABROAD.length - 1 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('sweep' as const), limit: fc.constantFrom(1, 3, 100) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('attach' as const), isChanging: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('crowd' as const), ufrag, way }) },
)

/** Just before 32 bits of milliseconds change their sign, or begin anew; or nowhere near. */
const start = fc.constantFrom(2 ** 31 - 10_000, 2 ** 32 - 10_000, 1_000_000)

/** A table that fills up, and one in which a ufrag can have too many clients. */
const maxFlows = fc.constantFrom(2, 16)

/** Few clients by few ways meet more often than many. */
const steps = fc
  .tuple(
    fc.constantFrom(1, 3, 10),
    fc.shuffledSubarray(
      Array.from({ length: WAYS }, (_, n) => n),
      { minLength: 1 },
    ),
    fc.array(step, { minLength: 5, maxLength: 150, size: 'max' }),
  )
  .map(([clients, ways, all]) =>
    all.map((one) => ({
      ...one,
      ...('client' in one ? { client: one.client % clients } : {}),
      ...('way' in one ? { way: ways[one.way % ways.length]! } : {}),
    })),
  )

test('rules 2 to 5 hold whatever comes, by whatever way, and the tables stay whole', () => {
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
