import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SPP_LENGTH, writeSpp } from '../../../../../core/index.ts'
import { Prng } from '../../../../../core/testing/prng.ts'
import { CONFIRMED_MS } from '../../../../../plugins/relay/pure/limits.ts'
import { attribute, bindingRequest, stunMessage, USERNAME } from '../../../../stun-bytes.ts'
import {
  at,
  CLIENT,
  DTLS,
  ERROR,
  INDICATION,
  LOCALS,
  MEDIA,
  SimulatedRelay,
  SUCCESS,
  T1,
  T2,
  T3,
} from '../simulated-relay.ts'

test('200,000 mutated datagrams from both sides: no throw, bounds hold, a call beside them is unharmed', () => {
  const random = new Prng(3478)
  const relay = new SimulatedRelay({ maxFlows: 32 })
  const homes = [T1, T2, T3]
  for (let i = 0; i < 12; i++) relay.issue(`call${i}`, homes[i % 3]!)
  relay.issue('quiet', T1)
  const clients = Array.from({ length: 40 }, (_, i) => `198.51.100.${i + 10}:9`)
  const payloads = [
    ...Array.from({ length: 12 }, (_, i) => bindingRequest(`call${i}:x`)),
    stunMessage(1, [attribute(USERNAME, 'call1:x'), attribute(USERNAME, 'call2:x')]),
    ...[MEDIA, DTLS, SUCCESS, ERROR, INDICATION],
  ]
  for (let i = 0; i < 200_000; i++) {
    relay.now += random.below(20)
    if (i % 200 === 0) relay.connect('quiet', T1)
    const bytes = Buffer.from(random.pick(payloads))
    const isDown = random.chance(0.4)
    const whole = isDown ? Buffer.concat([Buffer.alloc(SPP_LENGTH), bytes]) : bytes
    if (isDown) writeSpp(whole, 0, at(random.pick(clients)), random.pick(LOCALS))
    for (let n = random.below(4); n > 0; n--) whole[random.below(whole.length)] = random.below(256)
    const cut = random.chance(0.1) ? whole.subarray(0, random.below(whole.length)) : whole
    if (isDown) relay.rawDown(random.pick(homes), cut)
    else relay.up(cut, random.pick(clients), random.below(3))
    if (random.chance(0.01)) relay.recover(random.pick(homes), random.pick(clients))
    if (i % 500 === 0) {
      assert.ok(relay.state.flows.confirmed + relay.state.flows.unconfirmed <= 32)
      assert.deepEqual(relay.up(MEDIA), [T1])
      assert.deepEqual(relay.down(T1, MEDIA), [`${LOCALS[0]} > ${CLIENT}`])
    }
  }
  relay.now += CONFIRMED_MS
  relay.state.flows.sweep(relay.now, 1_000)
  assert.deepEqual([relay.state.flows.confirmed, relay.state.flows.unconfirmed], [0, 0])
  assert.deepEqual(relay.state.flows.page(0, 1_000).flows, [])
  assert.ok(relay.state.ufrags.idle <= 4_096)
})
