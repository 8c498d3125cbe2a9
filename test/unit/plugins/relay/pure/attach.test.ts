/** A worker dies, and another state goes on in its memory. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import * as record from '../../../../../plugins/relay/pure/records.ts'
import { RelayMemory, relayMemory } from '../../../../../plugins/relay/pure/relay-memory.ts'
import { CLIENT, LOCALS, MEDIA, SimulatedRelay, SUCCESS, T1, T2, T3 } from '../simulated-relay.ts'
import { assertWholeTables } from './whole-tables.ts'

const HOMES = [T1, T2, T3]
const client = (n: number): string => `198.51.100.${n}:9`

/** A relay in the middle of many calls, of which some have two routes, and some none yet. */
function busy(seed: number, maxFlows = 24): { relay: SimulatedRelay; random: Prng } {
  const random = new Prng(seed)
  const relay = new SimulatedRelay({ maxFlows })
  for (let n = 0; n < 30; n++) relay.issue(`call${n}`, HOMES[n % 3]!)
  for (let i = 0; i < 300; i++) work(relay, random)
  return { relay, random }
}

function work(relay: SimulatedRelay, random: Prng): void {
  relay.now += random.below(100)
  const [one, n] = [client(random.below(40) + 1), random.below(30)]
  if (random.chance(0.5)) relay.connect(`call${n}`, HOMES[n % 3]!, one)
  else relay.check(`call${n}`, one)
  if (random.chance(0.1)) relay.recover(HOMES[n % 3]!, one)
  if (random.chance(0.1)) relay.check(`forged${n}`, one)
}

/** What can be seen of the flows. */
function seen(relay: SimulatedRelay): unknown[] {
  return relay.state.flows
    .page(0, 100)
    .flows.map((flow) => ({
      ...flow,
      client: String(flow.client),
      routes: flow.routes
        .map((route) => ({ ...route, transceiver: String(route.transceiver) }))
        .sort((a, b) => (a.transceiver < b.transceiver ? -1 : 1)),
    }))
    .sort((a, b) => (a.client < b.client ? -1 : 1))
}

describe('another state attaches', () => {
  test('every flow, counter and ufrag is there, and the seed is the first one’s', () => {
    const { relay } = busy(1, 64)
    relay.issue('fresh', T2)
    relay.connect('fresh', T2)
    const before = { flows: seen(relay), decodes: relay.decodes, packets: relay.state.counters.packetsUp }
    relay.attach()
    assert.deepEqual(seen(relay), before.flows)
    assert.deepEqual(relay.up(MEDIA), [T2])
    assert.deepEqual(relay.down(T2, MEDIA), [`${LOCALS[0]} > ${CLIENT}`])
    assert.deepEqual(relay.check('fresh', client(99)), [T2])
    assert.equal(relay.decodes, before.decodes)
    assert.equal(relay.state.counters.packetsUp, before.packets + 2)
    assertWholeTables(relay.state)
  })
  test('the budget of decodes is not given anew', () => {
    const relay = new SimulatedRelay()
    for (let i = 0; i < 500; i++) relay.check(`forged${i}`)
    relay.attach()
    assert.equal(relay.check('forgedmore'), 'decode_budget')
  })
  test('not to memory of another size, nor to other memory', () => {
    const relay = new SimulatedRelay({ maxFlows: 24 })
    assert.throws(
      () => new RelayMemory(new Int32Array(new SharedArrayBuffer(4096))),
      /not the memory of a relay/,
    )
    assert.throws(() => relay.attach(25), /for 24 flows/)
    assert.throws(() => relayMemory(0), /1 to 1048576/)
    assert.throws(() => relayMemory(2 ** 20 + 1), /1 to 1048576/)
  })
})

describe('the one before died in the middle of a change', () => {
  test('its lists, chains, indexes and counts are in disorder, and its flows go on', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { relay, random } = busy(seed)
      const before = seen(relay)
      disarrange(relay, random)
      relay.attach()
      assertWholeTables(relay.state)
      assert.deepEqual(seen(relay), before)
      for (let i = 0; i < 100; i++) work(relay, random)
      assertWholeTables(relay.state)
      relay.now += 60_000
      for (let i = 0; i < 2; i++, relay.now += 60_000) relay.state.flows.sweep(relay.now, 10_000)
      assert.deepEqual([relay.state.flows.confirmed, relay.state.flows.unconfirmed], [0, 0])
      assertWholeTables(relay.state)
    }
  })
  test('a flow whose end had begun is gone, with all that its routes held', () => {
    const relay = new SimulatedRelay()
    relay.issue('call1', T1)
    relay.connect('call1', T1)
    relay.connect('call1', T1, client(5))
    const { words } = relay.state.memory
    words[relay.decision.flow + record.FLOW_KEY] = 0
    words[record.HEADER_IS_CHANGING] = 1
    relay.attach()
    assertWholeTables(relay.state)
    assert.equal(relay.up(MEDIA, client(5)), 'no_route')
    assert.deepEqual(relay.up(MEDIA), [T1])
    assert.deepEqual(relay.up(SUCCESS), [T1])
  })
  test('wherever a change is cut off, the tables are whole again', () => {
    let cuts = 0
    for (let isDead = true; isDead; cuts++) {
      const { relay, random } = busy(7)
      for (let i = 0; i < 20; i++) work(relay, random)
      isDead = cutOff(relay, 1 + cuts * 3, () => {
        relay.connect('call1', T2, client(77))
        relay.now += 29_000
        relay.check('call2', client(77))
        relay.state.flows.sweep(relay.now, 100)
      })
      relay.attach()
      assertWholeTables(relay.state)
    }
    assert.ok(cuts > 100)
  })
})

/** Scrambles all that can be derived. */
function disarrange({ state }: SimulatedRelay, random: Prng): void {
  const { words, layout } = state.memory
  const junk = (at: number): void => {
    words[at] = random.uint32()
  }
  for (let at = record.HEADER_UNCONFIRMED; at < record.HEADER_IDLE + 3; at++) junk(at)
  for (const pool of [8, 10, 12, 14]) junk(pool)
  for (const { start, mask } of [layout.flowBuckets, layout.ufragBuckets, layout.upstreamBuckets]) {
    for (let i = 0; i <= mask; i++) junk(start + i)
  }
  const each = (pool: typeof state.flows.pool, fields: readonly number[]): void => {
    for (let i = 0; i < pool.taken; i++) for (const field of fields) junk(pool.at(i) + field)
  }
  each(state.flows.pool, [record.FLOW_NEXT, record.FLOW_OLDER, record.FLOW_NEWER, record.FLOW_ROUTE])
  const links = [record.ROUTE_NEXT, record.ROUTE_HOLDER, record.ROUTE_HOLDER + 1]
  each(state.routes.pool, [...links, record.ROUTE_OLDER, record.ROUTE_NEWER])
  each(
    state.flows.pool,
    links.map((field) => record.FLOW_HOME + field),
  )
  each(state.ufrags.pool, [record.UFRAG_NEXT, record.UFRAG_OLDER, record.UFRAG_NEWER])
  each(state.upstreams.pool, [record.UPSTREAM_NEXT, record.UPSTREAM_REFERENCES])
  words[record.HEADER_IS_CHANGING] = 1
}

/** Does it on tables that take only so many more writes; true when that was too few. */
function cutOff(relay: SimulatedRelay, after: number, change: () => void): boolean {
  let left = after
  const write = (): void => {
    if (left-- <= 0) throw new Error('dead')
  }
  const mortal = (words: Int32Array): Int32Array =>
    new Proxy(words, {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (typeof value !== 'function') return value
        return (...parameters: unknown[]) => {
          write()
          return Reflect.apply(value, target, parameters)
        }
      },
      set(target, key, value) {
        write()
        return Reflect.set(target, key, value, target)
      },
    })
  const real = globalThis.Int32Array
  globalThis.Int32Array = new Proxy(real, {
    construct(target, parameters) {
      const words: Int32Array = Reflect.construct(target, parameters)
      return words.buffer instanceof SharedArrayBuffer ? mortal(words) : words
    },
  })
  try {
    relay.attach()
  } finally {
    globalThis.Int32Array = real
  }
  try {
    change()
    return false
  } catch {
    return true
  }
}
