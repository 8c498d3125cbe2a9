/**
 * Two relays behind a balancer, and the call goes on when it moves the client from one to the other: at once when the
 * recovery store knows the client, by the next check when it does not. Every lost packet is accounted for.
 */

import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import type { TestEdge } from '../peers/edge.ts'
import { type Account, Duplex, gapLine } from './support/duplex.ts'
import { downStore, HeldStore } from './support/given-store.ts'
import { counted, counter } from './support/metrics.ts'
import { TwoRelays } from './support/two-relays.ts'

const SETTLED = 20

const dropped = (relay: TestEdge): Promise<number> => counter(relay, 'relay_drops', { reason: 'no_route' })
const lookUps = (relay: TestEdge, result: string): Promise<number> =>
  counter(relay, 'relay_look_ups', { result })

/** What has gone through a relay in the only flow, both ways. */
async function through(relay: TestEdge): Promise<{ up: number; down: number }> {
  return (await relay.flows()).flows[0]?.packets ?? { up: 0, down: 0 }
}

/** Ends the talk, prints the measurement, and fails unless b dropped exactly what was lost, and nothing after `by`. */
async function assertAccounted(
  t: TestContext,
  talk: Duplex,
  { hop, b }: TwoRelays,
  what: string,
): Promise<Account> {
  const by = await dropped(b)
  const cut = hop.cutOff.down.rtp
  await talk.exchange(SETTLED)
  const account = await talk.finish()
  t.diagnostic(gapLine(account, what))
  assert.equal(await dropped(b), by, 'nothing was lost after the recovery')
  assert.equal(account.up.lost, by)
  // While relay a lives, what is on its way down passes there until the transceiver follows.
  assert.equal(hop.cutOff.down.rtp, cut)
  assert.equal(account.down.lost, cut)
  return account
}

describe('the balancer moves a client to another relay in mid-call', () => {
  for (const isDead of [false, true]) {
    const state = isDead ? 'the first relay gone' : 'both alive'
    it(`store up, ${state}: media flows before any STUN, and only what came before the look-up’s end is lost`, async (t) => {
      await using call = await TwoRelays.open()
      const { hop, a, b } = call
      using talk = await Duplex.begin(call.client, call.transceiver)
      hop.holdsChecks = true
      call.rehash(b)
      if (isDead) hop.cut(a.bound[0]!)
      await talk.exchange(SETTLED)
      // No check has come by: the recovered route alone has carried all this.
      assert.partialDeepStrictEqual(await b.flows(), { confirmed: 0, unconfirmed: 1 })
      assert.deepEqual(await call.routesOf(b), ['recovered'])
      const { up, down } = await through(b)
      assert.ok(up > SETTLED / 2 && down > SETTLED / 2, `${up} up, ${down} down by the recovered route`)
      hop.holdsChecks = false
      await eventually('a check confirms it', async () => (await b.flows()).confirmed === 1, 5000)
      assert.deepEqual(await call.routesOf(b), ['live'])
      const { up: lost } = await assertAccounted(t, talk, call, `rehashed, ${state}, store up`)
      assert.ok(lost.lost >= 1, 'the packet that starts the look-up is not kept')
      assert.deepEqual([await lookUps(b, 'hit'), await dropped(a)], [1, 0])
    })
  }

  it('store slow: one look-up, and what comes before its answer is lost', async (t) => {
    const store = new HeldStore()
    await using call = await TwoRelays.open({ store })
    const { hop, b } = call
    using talk = await Duplex.begin(call.client, call.transceiver)
    hop.holdsChecks = true
    call.rehash(b)
    await counted(b, 'relay_drops', { reason: 'no_route' }, SETTLED)
    assert.equal(store.waiting.length, 1)
    assert.deepEqual(await through(b), { up: 0, down: 0 })
    store.answer()
    await talk.exchange(SETTLED)
    assert.deepEqual(await call.routesOf(b), ['recovered'])
    hop.holdsChecks = false
    const { up } = await assertAccounted(t, talk, call, 'rehashed, store slow')
    assert.ok(up.lost >= SETTLED)
  })

  for (const [what, options] of [
    ['without a store', { recovery: false as const }],
    ['store down', { store: downStore }],
  ] as const) {
    it(`${what}: nothing flows before a check, and everything after it`, async (t) => {
      await using call = await TwoRelays.open(options)
      const { hop, b } = call
      using talk = await Duplex.begin(call.client, call.transceiver)
      hop.holdsChecks = true
      call.rehash(b)
      hop.cut(call.a.bound[0]!)
      await counted(b, 'relay_drops', { reason: 'no_route' }, SETTLED)
      assert.deepEqual(await through(b), { up: 0, down: 0 })
      hop.holdsChecks = false
      await talk.exchange(SETTLED)
      assert.deepEqual(await call.routesOf(b), ['live'])
      await assertAccounted(t, talk, call, `rehashed, the first relay gone, ${what}`)
      assert.equal((await lookUps(b, 'failed')) > 0, 'store' in options)
    })
  }

  it('to and fro: a relay that has its flow loses nothing', async (t) => {
    await using call = await TwoRelays.open()
    const { a, b } = call
    using talk = await Duplex.begin(call.client, call.transceiver)
    for (const relay of [b, a, b, a, b]) {
      call.rehash(relay)
      await talk.exchange(10)
      await eventually('it is confirmed', async () => (await relay.flows()).confirmed === 1, 5000)
    }
    await assertAccounted(t, talk, call, 'rehashed five times, store up')
    assert.deepEqual([await lookUps(a, 'hit'), await lookUps(b, 'hit')], [0, 1])
    assert.equal(await dropped(a), 0)
  })
})
