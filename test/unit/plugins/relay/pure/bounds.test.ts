/** Rule 5: what one client, one ufrag and one network can use up. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  CLIENTS_PER_UFRAG,
  CONFIRMED_MS,
  DECODES_PER_PREFIX,
  DECODES_PER_SECOND,
  UNCONFIRMED_MS,
  UNCONFIRMED_PER_SECOND,
} from '../../../../../plugins/relay/pure/limits.ts'
import { MEDIA, SimulatedRelay, SUCCESS, T1, T2 } from '../simulated-relay.ts'

function simulate(options?: ConstructorParameters<typeof SimulatedRelay>[0]): SimulatedRelay {
  const relay = new SimulatedRelay(options)
  relay.issue('call1', T1)
  relay.issue('call2', T2)
  return relay
}

const client = (n: number): string => `198.51.100.${n}:40000`

describe('one ufrag', () => {
  test('from spoofed addresses: eight at a time, and one more when one has ended', () => {
    const relay = simulate()
    for (let i = 1; i <= CLIENTS_PER_UFRAG; i++) assert.deepEqual(relay.check('call1', client(i)), [T1])
    assert.equal(relay.check('call1', client(99)), 'ufrag_addresses')
    assert.deepEqual(relay.check('call1', client(3)), [T1])
    assert.deepEqual(relay.check('call1', client(3), 2), [T1], 'the same client at another socket')
    assert.deepEqual(relay.check('call2', client(99)), [T2])
    relay.now += UNCONFIRMED_MS
    relay.state.flows.sweep(relay.now, 1_000)
    assert.deepEqual(relay.check('call1', client(99)), [T1])
  })
  test('unconfirmed packets: fifty a second over all addresses, live routes not counted', () => {
    const relay = simulate()
    relay.connect('call1', T1, client(1))
    let passed = 0
    for (let i = 0; i < 200; i++) {
      assert.deepEqual(relay.check('call1', client(1)), [T1])
      if (relay.check('call1', client(2 + (i % 7))) !== 'ufrag_rate') passed++
    }
    // The request that made the first client's route live was one of them.
    assert.equal(passed, UNCONFIRMED_PER_SECOND - 1)
    relay.now += 1_000
    assert.deepEqual(relay.check('call1', client(2)), [T1])
  })
  test('other STUN to a pending route counts as well', () => {
    const relay = simulate()
    relay.check('call1')
    for (let i = 1; i < UNCONFIRMED_PER_SECOND; i++) assert.deepEqual(relay.up(SUCCESS), [T1])
    assert.equal(relay.up(SUCCESS), 'no_route')
  })
})

describe('flows end', () => {
  test('an unconfirmed one after 5 s, whatever the client sends', () => {
    const relay = simulate()
    relay.check('call1')
    for (let i = 0; i < 49; i++) {
      relay.now += 100
      relay.check('call1')
      relay.up(MEDIA)
    }
    const { openedAt } = relay.state.flows.page(0, 1).flows[0]!
    relay.now = openedAt + UNCONFIRMED_MS
    assert.equal(relay.down(T1, SUCCESS), 'no_flow')
    assert.equal(relay.state.flows.unconfirmed, 0)
  })
  test('a confirmed one 30 s after its last success, whatever the client sends', () => {
    const relay = simulate()
    relay.connect('call1', T1)
    relay.now += 20_000
    relay.connect('call1', T1)
    for (let i = 1; i < CONFIRMED_MS / 1_000; i++) {
      relay.now += 1_000
      relay.check('call1')
      assert.deepEqual(relay.up(MEDIA), [T1])
    }
    relay.now += 1_000
    assert.equal(relay.up(MEDIA), 'no_route')
    assert.equal(relay.state.flows.confirmed, 0)
  })
  test('a sweep ends what nobody asks about, in bounded steps, and lets go of its ufrags', () => {
    const relay = simulate()
    for (let i = 1; i <= 8; i++) relay.check('call1', client(i))
    for (let i = 11; i <= 18; i++) relay.connect('call2', T2, client(i))
    relay.now += CONFIRMED_MS
    relay.state.flows.sweep(relay.now, 5)
    assert.equal(relay.state.flows.unconfirmed + relay.state.flows.confirmed, 11)
    relay.state.flows.sweep(relay.now, 100)
    assert.equal(relay.state.flows.unconfirmed + relay.state.flows.confirmed, 0)
    assert.equal(relay.state.ufrags.idle, 2)
  })
})

describe('a full table', () => {
  test('evicts the oldest unconfirmed flow', () => {
    const relay = simulate({ maxFlows: 4 })
    relay.connect('call1', T1, client(1))
    for (let i = 2; i <= 5; i++) {
      relay.now++
      relay.check('call2', client(i))
    }
    assert.deepEqual(relay.up(MEDIA, client(1)), [T1])
    assert.equal(relay.down(T2, SUCCESS, client(2)), 'no_flow')
    assert.equal(relay.down(T2, SUCCESS, client(3)).length, 1)
    assert.equal(relay.state.flows.evicted, 1)
  })
  test('refuses only when all are confirmed, and takes again when one has ended', () => {
    const relay = simulate({ maxFlows: 4 })
    for (let i = 1; i <= 4; i++) relay.connect('call1', T1, client(i))
    assert.equal(relay.check('call2', client(5)), 'table_full')
    assert.equal(relay.drops('table_full'), 1)
    for (let i = 1; i <= 4; i++) assert.deepEqual(relay.up(MEDIA, client(i)), [T1])
    relay.now += CONFIRMED_MS
    assert.deepEqual(relay.check('call2', client(5)), [T2])
  })
})

describe('decodes', () => {
  const ufrag = (n: number): string => `forged${n}`

  test('one network has its share, and others are served meanwhile', () => {
    const relay = simulate()
    for (let i = 0; i < DECODES_PER_PREFIX; i++) {
      assert.equal(relay.check(ufrag(i), `192.0.2.${i % 250}:9`), 'unroutable_ufrag')
    }
    assert.equal(relay.check(ufrag(-1), '192.0.2.7:9'), 'bad_ufrag')
    assert.equal(relay.check(ufrag(100_000), '192.0.2.7:9'), 'decode_budget')
    assert.deepEqual(relay.check('call1'), [T1])
    relay.now += 1_000
    assert.equal(relay.check(ufrag(100_000), '192.0.2.7:9'), 'unroutable_ufrag')
  })
  test('a /48 of IPv6 is one network', () => {
    const relay = simulate()
    for (let i = 0; i < DECODES_PER_PREFIX; i++)
      relay.check(ufrag(i), `[2001:db8:5:${i.toString(16)}::1]:9`, 1)
    assert.equal(relay.check(ufrag(9_999), '[2001:db8:5:ffff::1]:9', 1), 'decode_budget')
    assert.equal(relay.check(ufrag(9_999), '[2001:db8:6::1]:9', 1), 'unroutable_ufrag')
  })
  test('all networks together have a limit', () => {
    const relay = simulate()
    for (let i = 0; i < DECODES_PER_SECOND + 500; i++)
      relay.check(ufrag(i), `20.${i & 255}.${(i >> 8) & 255}.1:9`)
    assert.equal(relay.decodes, DECODES_PER_SECOND)
  })
  test('a flood of new ufrags makes nobody forget those that flows use', () => {
    const relay = simulate()
    relay.connect('call1', T1)
    for (let i = 0; i < 9_000; i++) relay.check(ufrag(i), `20.${i & 255}.${(i >> 8) & 255}.1:9`)
    const before = relay.decodes
    assert.deepEqual(relay.check('call1', client(8)), [T1])
    assert.equal(relay.decodes, before)
    assert.ok(relay.state.ufrags.idle <= 4_096)
  })
})
