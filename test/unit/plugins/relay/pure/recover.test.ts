import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import {
  FRUITLESS_MS,
  LOOK_UPS_PER_SECOND,
  UNCONFIRMED_MS,
} from '../../../../../plugins/relay/pure/limits.ts'
import { LookUps } from '../../../../../plugins/relay/pure/look-ups.ts'
import { at, CLIENT, DTLS, LOCALS, MEDIA, SimulatedRelay, SUCCESS, T1, T2, T3 } from '../simulated-relay.ts'

describe('a recovered route', () => {
  let relay: SimulatedRelay
  beforeEach(() => {
    relay = new SimulatedRelay({ maxFlows: 4 })
    relay.issue('call1', T1)
    relay.issue('call2', T2)
  })

  test('carries everything up and hears that transceiver alone', () => {
    assert.ok(relay.recover(T1))
    assert.deepEqual([relay.up(MEDIA), relay.up(DTLS), relay.up(SUCCESS)], [[T1], [T1], [T1]])
    assert.deepEqual(relay.down(T1, MEDIA), [`${LOCALS[0]} > ${CLIENT}`])
    assert.equal(relay.down(T2, MEDIA), 'not_own_transceiver')
    assert.equal(relay.state.flows.unconfirmed, 1)
  })
  test('ends after 5 s unless a success confirms it', () => {
    relay.recover(T1)
    relay.now += UNCONFIRMED_MS
    assert.equal(relay.up(MEDIA), 'no_route')
    relay.recover(T1)
    relay.connect('call1', T1)
    relay.now += UNCONFIRMED_MS
    assert.deepEqual(relay.up(MEDIA), [T1])
    assert.equal(relay.state.flows.confirmed, 1)
  })
  test('is not made live by a success response to a request that never went there', () => {
    relay.recover(T1)
    relay.down(T1, SUCCESS)
    assert.equal(relay.state.flows.confirmed, 0)
    assert.equal(relay.decision.event, undefined)
    relay.now += UNCONFIRMED_MS
    assert.equal(relay.up(MEDIA), 'no_route')
  })
  test('displaces nothing: neither a live route nor, in a full table, anybody', () => {
    relay.connect('call2', T2)
    assert.ok(!relay.recover(T1))
    assert.deepEqual(relay.up(MEDIA), [T2])
    for (let i = 1; i <= 3; i++) relay.check('call1', `192.0.2.${i}:9`)
    assert.ok(!relay.recover(T1, '192.0.2.4:9'))
    assert.equal(relay.state.flows.evicted, 0)
  })
  test('helps a flow of which somebody else made only a pending route', () => {
    relay.check('call2')
    assert.equal(relay.up(MEDIA), 'no_route')
    assert.ok(relay.decision.wantsLookUp)
    assert.ok(relay.recover(T1))
    assert.deepEqual(relay.up(MEDIA), [T1])
  })
  test('lets a pending route to that transceiver carry', () => {
    relay.check('call1')
    assert.ok(relay.recover(T1))
    assert.deepEqual(relay.up(MEDIA), [T1])
    assert.deepEqual(relay.down(T1, MEDIA), [`${LOCALS[0]} > ${CLIENT}`])
  })
  test('passes the same checks as a decoded one', () => {
    assert.ok(!relay.recover('10.0.1.1:3479'))
    assert.ok(!relay.recover('10.0.0.1:80'))
    assert.ok(!relay.recover(T3, CLIENT, 2))
    assert.ok(!relay.recover(String(LOCALS[1])))
    assert.ok(!relay.recover(T1, String(LOCALS[2])))
    assert.equal(relay.state.flows.unconfirmed, 0)
  })
})

describe('look-ups', () => {
  let lookUps: LookUps
  beforeEach(() => {
    lookUps = new LookUps(99)
  })
  const other = (n: number) => at(`20.${n & 255}.${n >> 8}.1:9`)

  test('one at a time for an address at a socket', () => {
    const first = lookUps.begin(0, 0, at(CLIENT))!
    assert.equal(lookUps.begin(0, 0, at(CLIENT)), undefined)
    assert.ok(lookUps.begin(0, 1, at(CLIENT)))
    assert.ok(lookUps.begin(0, 0, at('198.51.100.7:40001')))
    lookUps.end(1, first, 0)
    assert.ok(lookUps.begin(1, 0, at(CLIENT)))
  })
  test('one that is over is not repeated for as long as it says', () => {
    lookUps.end(10, lookUps.begin(0, 0, at(CLIENT))!, FRUITLESS_MS)
    assert.equal(lookUps.begin(10 + FRUITLESS_MS - 1, 0, at(CLIENT)), undefined)
    assert.ok(lookUps.begin(10 + FRUITLESS_MS, 0, at(CLIENT)))
  })
  test('at most 500 a second', () => {
    let begun = 0
    for (let i = 0; i < 2_000; i++) {
      const lookUp = lookUps.begin(i / 4, 0, other(i))
      if (lookUp) {
        begun++
        lookUps.end(i / 4, lookUp, FRUITLESS_MS)
      }
    }
    assert.equal(begun, LOOK_UPS_PER_SECOND)
    assert.ok(lookUps.begin(1_000, 0, other(5_000)))
  })
  test('a look-up under way is never taken for another', () => {
    const kept = lookUps.begin(0, 0, at(CLIENT))!
    for (let second = 0; second < 40; second++) {
      for (let i = 0; i < LOOK_UPS_PER_SECOND; i++) lookUps.begin(second * 1_000, 0, other(second * 500 + i))
    }
    assert.equal(String(kept.client), CLIENT)
  })
})
