/** Rule 3: how routes come, turn live and end, and who cannot take a call away. */

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { FRESH_MS, UNCONFIRMED_MS } from '../../../../../plugins/relay/pure/limits.ts'
import { at, CLIENT, ERROR, MEDIA, SimulatedRelay, SUCCESS, T1, T2, T3 } from '../simulated-relay.ts'

let relay: SimulatedRelay
beforeEach(() => {
  relay = new SimulatedRelay()
  relay.issue('victim', T1)
  relay.issue('attacker', T2)
  relay.issue('accomplice', T3)
})

function carriers(): number {
  return relay.state.flows.page(0, 1).flows[0]!.count(false)
}

describe('an attacker who spoofs the address of a client with a call', () => {
  test('with a valid session of its own: every packet of the client still reaches its transceiver', () => {
    let reached = 0
    for (let ms = 0; ms < 30_000; ms += 20, relay.now += 20) {
      if (ms % 2_660 === 0) {
        assert.deepEqual(relay.check('victim'), [T1])
        relay.down(T1, SUCCESS)
      }
      if (ms >= 1_000) {
        relay.check('attacker')
        relay.down(T2, SUCCESS)
      }
      const to = relay.up(MEDIA)
      if (to.includes(T1)) reached++
      assert.deepEqual(relay.down(T1, MEDIA).length, 1)
    }
    assert.equal(reached, 1_500)
  })
  test('with two sessions: the one on a third transceiver waits while both others are fresh', () => {
    relay.connect('victim', T1)
    relay.connect('attacker', T2)
    relay.connect('accomplice', T3)
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
    assert.equal(relay.down(T3, MEDIA), 'pending_downstream')
    relay.now += 2_500
    relay.connect('victim', T1)
    relay.connect('accomplice', T3)
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
  })
  test('with a replayed ufrag that the transceiver refuses: nothing but errors come of it', () => {
    relay.connect('victim', T1)
    assert.deepEqual(relay.check('attacker'), [T2])
    relay.down(T2, ERROR)
    assert.deepEqual(relay.up(MEDIA), [T1])
    relay.now += UNCONFIRMED_MS
    assert.deepEqual(relay.down(T2, SUCCESS), 'not_own_transceiver')
  })
  test('with a forged ufrag: dropped', () => {
    relay.connect('victim', T1)
    assert.equal(relay.check('forgedforged'), 'unroutable_ufrag')
    assert.deepEqual(relay.up(MEDIA), [T1])
  })
  test('with many valid ufrags: the client that comes now is confirmed all the same', () => {
    relay.check('victim')
    relay.check('attacker')
    relay.down(T1, SUCCESS)
    relay.check('accomplice')
    assert.deepEqual(relay.up(MEDIA), [T1])
  })
  test('before its call is confirmed anew: the recovered route stays beside the attacker', () => {
    assert.ok(relay.recover(T1))
    relay.connect('attacker', T2)
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
    relay.connect('accomplice', T3)
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
    relay.connect('victim', T1)
    relay.now += UNCONFIRMED_MS
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
  })
})

describe('field reports', () => {
  test('1: a client on the reused ip:port of another goes to its own transceiver after the success', () => {
    relay.connect('victim', T1)
    relay.now += 1_000
    assert.deepEqual(relay.check('attacker'), [T2])
    relay.down(T2, SUCCESS)
    assert.ok(relay.up(MEDIA).includes(T2))
    relay.now += FRESH_MS - 1_000
    relay.connect('attacker', T2)
    assert.deepEqual(relay.up(MEDIA), [T2])
    assert.equal(relay.down(T1, MEDIA), 'not_own_transceiver')
  })
  test('2: an ICE restart on the same 5-tuple reaches the new agent, on the same transceiver or another', () => {
    relay.connect('victim', T1)
    relay.issue('victim2', T1)
    assert.deepEqual(relay.check('victim2'), [T1])
    assert.deepEqual(relay.up(MEDIA), [T1])
    relay.issue('victim3', T3)
    assert.deepEqual(relay.check('victim3'), [T3])
    relay.down(T3, SUCCESS)
    assert.ok(relay.up(MEDIA).includes(T3))
  })
})

describe('the ufrags of a route', () => {
  test('a third one pushes out the older of two, and lets go of it', () => {
    for (const name of ['second', 'third']) relay.issue(name, T1)
    const others = Array.from({ length: 7 }, (_, i) => `198.51.100.${i + 20}:9`)
    for (const client of others) relay.check('victim', client)
    for (const name of ['victim', 'second', 'third']) relay.check(name)
    assert.deepEqual(relay.check('victim', '198.51.100.99:9'), [T1])
  })
  test('the session is that of the last request before the success', () => {
    relay.issue('second', T1)
    const session = () => Buffer.from(relay.state.flows.page(0, 1).flows[0]!.routes[0]!.session).toString()
    relay.connect('victim', T1)
    relay.check('second')
    assert.equal(session(), 'victim00')
    relay.down(T1, SUCCESS)
    assert.equal(session(), 'second00')
    relay.connect('victim', T1)
    assert.equal(session(), 'victim00')
  })
})

describe('the life of a route', () => {
  test('a pending one ends after its time and comes back with the next request', () => {
    relay.connect('victim', T1)
    relay.check('attacker')
    relay.now += UNCONFIRMED_MS - 1
    assert.deepEqual(relay.up(SUCCESS), [T1, T2])
    relay.now += 1
    assert.deepEqual(relay.up(SUCCESS), [T1])
    assert.deepEqual(relay.check('attacker'), [T2])
  })
  test('requests do not prolong it', () => {
    relay.connect('victim', T1)
    relay.check('attacker')
    for (let i = 0; i < 4; i++) {
      relay.now += UNCONFIRMED_MS / 5
      relay.check('attacker')
    }
    relay.now += UNCONFIRMED_MS / 5
    assert.deepEqual(relay.up(SUCCESS), [T1])
  })
  test('a third pending one pushes out the oldest of those that wait', () => {
    relay.issue('fourth', '10.0.0.4:3479')
    relay.connect('victim', T1)
    relay.check('attacker')
    relay.now++
    relay.check('accomplice')
    relay.now++
    relay.check('fourth')
    assert.equal(relay.down(T2, SUCCESS), 'not_own_transceiver')
    assert.deepEqual(relay.up(SUCCESS), [T1, T3, '10.0.0.4:3479'])
  })
  test('a live one alone does not end before its flow', () => {
    relay.connect('victim', T1)
    relay.now += 29_999
    assert.deepEqual(relay.up(MEDIA), [T1])
  })
  test('a stale one ends when the other is fresh, and not before it is stale', () => {
    relay.connect('victim', T1)
    relay.connect('attacker', T2)
    relay.now += 6_000
    relay.connect('attacker', T2)
    relay.now += FRESH_MS - 6_001
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
    relay.now += 1
    assert.deepEqual(relay.up(MEDIA), [T2])
  })
  test('two stale ones stay, and a third takes the place of the staler', () => {
    relay.connect('victim', T1)
    relay.now += 10
    relay.connect('attacker', T2)
    relay.now += FRESH_MS
    assert.deepEqual(relay.up(MEDIA), [T1, T2])
    relay.connect('accomplice', T3)
    assert.deepEqual(relay.up(MEDIA), [T3])
    assert.equal(carriers(), 1)
  })
  test('never more than two carry, whatever comes', () => {
    const names = ['victim', 'attacker', 'accomplice'] as const
    const homes = [T1, T2, T3]
    for (let i = 0; i < 2_000; i++) {
      relay.now += (i * 37) % 3_000
      const n = (i * 7 + (i >> 3)) % 3
      relay.check(names[n]!)
      if (i % 3 !== 0) relay.down(homes[n]!, SUCCESS)
      if (i % 11 === 0) relay.recover(homes[(n + 1) % 3]!)
      assert.ok(relay.state.flows.page(0, 9).flows[0]!.count(false) <= 2)
      assert.ok(relay.state.flows.page(0, 9).flows[0]!.count(true) <= 2)
    }
  })
  test('the first that became live is the incumbent until it ends', () => {
    relay.connect('victim', T1)
    relay.now += 10
    relay.connect('attacker', T2)
    const flow = () => relay.state.flows.view(relay.state.flows.find(relay.now, 0, at(CLIENT)))
    assert.equal(String(flow().incumbent!.transceiver), T1)
    relay.now += FRESH_MS - 1
    relay.connect('attacker', T2)
    assert.equal(String(flow().incumbent!.transceiver), T2)
    assert.equal(String(flow().client), CLIENT)
  })
})
