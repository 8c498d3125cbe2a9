/** Framing with tags, seen from the relay. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Framing,
  framing,
  HEAD_ROOM,
  MAX_DATAGRAM,
  opensslProblem,
  SPP_MAC_LENGTH,
} from '../../../../../core/index.ts'
import { at, CLIENT, LOCALS, MEDIA, SimulatedRelay, SUCCESS, T1 } from '../simulated-relay.ts'

const needs = { skip: opensslProblem()?.message ?? false }
const KEY = { id: 1, key: '5a'.repeat(32) }
const TRANSCEIVER = framing([KEY], 'down')

function tagged(by: Framing, payload: Buffer): Buffer {
  const bytes = Buffer.alloc(HEAD_ROOM + payload.length)
  payload.copy(bytes, HEAD_ROOM)
  by.write(bytes, HEAD_ROOM, bytes.length, at(CLIENT), LOCALS[0]!)
  return bytes.subarray(HEAD_ROOM - by.length)
}

test('frames of transceivers that have the key pass; the others are dropped by what is wrong', needs, () => {
  const relay = new SimulatedRelay({ framing: framing([KEY], 'up') })
  relay.issue('call1', T1)
  relay.check('call1')
  assert.deepEqual(relay.rawDown(T1, tagged(TRANSCEIVER, SUCCESS)), [`${LOCALS[0]} > ${CLIENT}`])
  assert.equal(relay.decision.payload, SPP_MAC_LENGTH)
  assert.deepEqual(relay.rawDown(T1, tagged(TRANSCEIVER, MEDIA)), [`${LOCALS[0]} > ${CLIENT}`])
  assert.equal(relay.down(T1, MEDIA), 'mac_missing')
  assert.equal(relay.rawDown(T1, tagged(framing([{ ...KEY, id: 2 }], 'down'), MEDIA)), 'mac_key')
  const stranger = framing([{ id: 1, key: '00'.repeat(32) }], 'down')
  assert.equal(relay.rawDown(T1, tagged(stranger, MEDIA)), 'mac_wrong')
  assert.equal(relay.rawDown(T1, tagged(framing([KEY], 'up'), MEDIA)), 'mac_wrong')
  const altered = tagged(TRANSCEIVER, MEDIA)
  altered[altered.length - 1]! ^= 1
  assert.equal(relay.rawDown(T1, altered), 'mac_wrong')
  const redirected = tagged(TRANSCEIVER, MEDIA)
  redirected[35]! ^= 1
  assert.equal(relay.rawDown(T1, redirected), 'mac_wrong')
  assert.equal(relay.rawDown(T1, MEDIA), 'bad_frame')
  const counts = (['mac_missing', 'mac_key', 'mac_wrong'] as const).map((reason) => relay.drops(reason))
  assert.deepEqual(counts, [1, 1, 4])
})

test('the largest datagram leaves room for the tag', needs, () => {
  const relay = new SimulatedRelay({ framing: framing([KEY], 'up') })
  relay.issue('call1', T1)
  relay.check('call1')
  relay.rawDown(T1, tagged(TRANSCEIVER, SUCCESS))
  const media = Buffer.alloc(MAX_DATAGRAM - SPP_MAC_LENGTH + 1, 0x80)
  assert.equal(relay.up(media), 'oversize')
  assert.deepEqual(relay.up(media.subarray(1)), [T1])
})
