/** How much the tables take, what happens when one of them is full, and time that begins anew. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as record from '../../../../../plugins/relay/pure/records.ts'
import { relayMemory } from '../../../../../plugins/relay/pure/relay-memory.ts'
import { at, CLIENT, MEDIA, SimulatedRelay, SUCCESS, T1, T2, T3 } from '../simulated-relay.ts'
import { assertWholeTables } from './whole-tables.ts'

const client = (n: number): string => `198.51.${n >> 8}.${n & 255}:40000`

test('a flow takes at most 256 bytes, all tables together, by default and at the most', () => {
  for (const flows of [65_536, 65_537, 84_651, 100_000, 131_073, 262_145, 700_000, 1_048_576]) {
    const bytes = relayMemory(flows).byteLength / flows
    assert.ok(bytes <= 256, `${bytes.toFixed(1)} bytes for each of ${flows}`)
  }
})

describe('what is full', () => {
  test('places for second routes: those that wait make room, oldest first, and no call loses its route', () => {
    const relay = new SimulatedRelay({ maxFlows: 64 })
    const { count } = relay.state.routes.pool.region
    for (let n = 0; n < 8; n++) for (const home of [T1, T2]) relay.issue(`call${n}of${home[7]}`, home)
    const clients = Array.from({ length: 40 }, (_, n) => client(n + 1))
    for (const [n, one] of clients.entries()) relay.connect(`call${n % 8}of1`, T1, one)
    for (const [n, one] of clients.entries()) {
      relay.now++
      assert.deepEqual(relay.check(`call${n % 8}of2`, one), [T2])
      assertWholeTables(relay.state)
    }
    assert.ok(count < 40)
    const waiting = clients.filter((one) => relay.up(SUCCESS, one).includes(T2))
    assert.deepEqual(waiting, clients.slice(40 - count))
    for (const one of clients) assert.deepEqual(relay.up(MEDIA, one), [T1])
  })
  test('places for second routes, all of them live: one more is refused, and a new client is not', () => {
    const relay = new SimulatedRelay({ maxFlows: 64 })
    const { count } = relay.state.routes.pool.region
    for (let n = 0; n < 8; n++) {
      for (const home of [T1, T2, T3]) relay.issue(`call${n}of${home[7]}`, home)
    }
    for (let n = 0; n < count; n++) {
      relay.connect(`call${n % 8}of1`, T1, client(n))
      relay.connect(`call${n % 8}of2`, T2, client(n))
    }
    assert.equal(relay.check('call1of3', client(1)), 'table_full')
    assert.deepEqual(relay.check('call1of3', client(200)), [T3])
    assertWholeTables(relay.state)
  })
  test('places for transceivers: remembered ufrags make room, then flows that wait', () => {
    const relay = new SimulatedRelay({ maxFlows: 64, cidrs: ['10.0.0.0/8'] })
    const { count } = relay.state.upstreams.pool.region
    for (let n = 0; n < count + 40; n++) {
      if (n % 400 === 0) relay.now += 1_000
      relay.issue(`many${n}`, `10.1.${n >> 8}.${n & 255}:3479`)
      assert.equal(relay.check(`many${n}`, client(n)).length, 1)
    }
    assertWholeTables(relay.state)
  })
  test('the bytes of a flow go on beyond 32 bits, each way by itself', () => {
    const relay = new SimulatedRelay()
    relay.issue('call1', T1)
    relay.connect('call1', T1)
    const { flow } = relay.decision
    const { flows } = relay.state
    for (let i = 0; i < 3; i++) flows.countUp(flow, 0xffff_fff0)
    flows.countDown(flow, 0xffff_fff0)
    const before = flows.view(flow)
    assert.ok(before.bytesUp > 3 * 0xffff_fff0)
    assert.ok(before.bytesDown < 2 ** 33)
    relay.up(MEDIA)
    relay.down(T1, MEDIA)
    const after = flows.view(flow)
    assert.equal(after.bytesUp, before.bytesUp + MEDIA.length)
    assert.equal(after.bytesDown, before.bytesDown + MEDIA.length)
  })
})

describe('time begins anew', () => {
  for (const start of [2 ** 31, 2 ** 32, 2 ** 33 + 2 ** 31]) {
    test(`at ${start} ms: flows, routes and ufrags end when they would have`, () => {
      const relay = new SimulatedRelay()
      relay.now = start - 2_000
      relay.issue('call1', T1)
      relay.issue('call2', T2)
      relay.connect('call1', T1)
      relay.check('call2', client(9))
      relay.now += 4_999
      assert.deepEqual(relay.down(T2, SUCCESS, client(9)).length, 1)
      relay.now += 25_000
      assert.deepEqual(relay.up(MEDIA), [T1])
      relay.now += 1
      assert.equal(relay.up(MEDIA), 'no_route')
      assert.deepEqual(relay.up(MEDIA, client(9)), [T2])
      assertWholeTables(relay.state)
    })
  }
  test('within a call of sixty days: it goes on, is remembered, and its age is shown as far as it goes', () => {
    const relay = new SimulatedRelay()
    relay.issue('call1', T1)
    relay.connect('call1', T1)
    const events = { refreshed: 0, other: 0 }
    for (let s = 0; s < 60 * 86_400; s += 25) {
      relay.now += 25_000
      relay.down(T1, SUCCESS)
      events[relay.decision.event === 'refreshed' ? 'refreshed' : 'other']++
    }
    assert.deepEqual(events, { refreshed: (60 * 86_400) / 25, other: 0 })
    assert.deepEqual(relay.up(MEDIA), [T1])
    assertWholeTables(relay.state)
  })
})

test('another thread reads while one writes: what is shown may be wrong, and never fails or goes on for ever', () => {
  const relay = new SimulatedRelay()
  for (let n = 0; n < 8; n++) relay.issue(`call${n}`, T1)
  for (let n = 0; n < 30; n++) relay.connect(`call${n % 8}`, T1, client(n))
  const { words } = relay.state.memory
  for (const flow of Array.from({ length: 30 }, (_, n) => relay.state.flows.pool.at(n))) {
    // A chain that bites its own tail, one that leads out of the memory, and one into another flow.
    words[flow + record.FLOW_HOME + record.ROUTE_NEXT] = flow + record.FLOW_HOME
    assert.ok(relay.state.flows.page(0, 100).flows.length === 30)
    words[flow + record.FLOW_ROUTE] = 0x7fff_fff0
    assert.deepEqual(relay.state.flows.view(flow).routes, [])
    words[flow + record.FLOW_ROUTE] = relay.state.flows.pool.at(31) + record.FLOW_HOME
    words[flow + record.FLOW_HOME + record.ROUTE_UPSTREAM] = -5
    relay.state.flows.page(0, 100)
  }
  assert.ok(at(CLIENT))
})
