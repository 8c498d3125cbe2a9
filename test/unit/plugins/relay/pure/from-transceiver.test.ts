import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { SPP_LENGTH } from '../../../../../core/index.ts'
import { stunMessage } from '../../../../stun-bytes.ts'
import {
  at,
  CLIENT,
  DTLS,
  ERROR,
  INDICATION,
  LOCALS,
  MEDIA,
  REQUEST_DOWN,
  SimulatedRelay,
  SUCCESS,
  T1,
  T2,
} from '../simulated-relay.ts'

const HOME = [`${LOCALS[0]} > ${CLIENT}`]

let relay: SimulatedRelay
beforeEach(() => {
  relay = new SimulatedRelay()
  relay.issue('call1', T1)
  relay.issue('call2', T2)
})

describe('a pending route', () => {
  test('passes only STUN success and error responses', () => {
    relay.check('call1')
    for (const bytes of [MEDIA, DTLS, REQUEST_DOWN, INDICATION]) {
      assert.equal(relay.down(T1, bytes), 'pending_downstream')
    }
    assert.deepEqual(relay.down(T1, ERROR), HOME)
    assert.equal(relay.down(T1, MEDIA), 'pending_downstream')
    assert.deepEqual(relay.down(T1, SUCCESS), HOME)
    assert.equal(relay.decision.event, 'confirmed')
    for (const bytes of [MEDIA, DTLS, REQUEST_DOWN, INDICATION]) assert.deepEqual(relay.down(T1, bytes), HOME)
  })
  test('is not made live by an error response', () => {
    relay.check('call1')
    relay.down(T1, ERROR)
    assert.equal(relay.state.flows.confirmed, 0)
    assert.equal(relay.up(MEDIA), 'no_route')
  })
})

describe('only a flow hears its own transceivers', () => {
  test('a forged success response from another address changes nothing', () => {
    relay.check('call1')
    assert.equal(relay.down(T2, SUCCESS), 'not_own_transceiver')
    assert.equal(relay.down('10.0.0.1:3480', SUCCESS), 'not_own_transceiver')
    assert.equal(relay.state.flows.confirmed, 0)
  })
  test('a transceiver of one client does not reach another', () => {
    relay.connect('call1', T1)
    assert.equal(relay.down(T1, MEDIA, '198.51.100.8:40000'), 'no_flow')
    relay.connect('call2', T2, '198.51.100.8:40000')
    assert.equal(relay.down(T1, MEDIA, '198.51.100.8:40000'), 'not_own_transceiver')
  })
  test('replies leave from the socket that the client sent to', () => {
    relay.check('call1', CLIENT, 2)
    assert.equal(relay.down(T1, SUCCESS), 'no_flow')
    assert.deepEqual(relay.down(T1, SUCCESS, CLIENT, LOCALS[2]!), [`${LOCALS[2]} > ${CLIENT}`])
  })
  test('for an address that is not ours nothing is sent', () => {
    relay.connect('call1', T1)
    assert.equal(relay.down(T1, MEDIA, CLIENT, at('203.0.113.10:3479')), 'unknown_proxy')
  })
})

test('bare, empty and malformed datagrams on the internal socket are dropped', () => {
  relay.connect('call1', T1)
  assert.equal(relay.rawDown(T1, MEDIA), 'bad_frame')
  assert.equal(relay.rawDown(T1, Buffer.alloc(SPP_LENGTH - 1, 0x56)), 'bad_frame')
  assert.equal(relay.down(T1, Buffer.alloc(0)), 'empty')
  assert.equal(relay.down(T1, Buffer.from([0x56, 0xec])), 'unknown_protocol')
  assert.equal(relay.down(T1, Buffer.from([200])), 'unknown_protocol')
  assert.equal(relay.down(T1, SUCCESS.subarray(0, 19)), 'malformed_stun')
  assert.equal(relay.down(T1, stunMessage(1, []).fill(0, 4, 8)), 'malformed_stun')
})

test('the payload goes out without its framing', () => {
  relay.connect('call1', T1)
  relay.down(T1, MEDIA)
  assert.equal(relay.decision.payload, SPP_LENGTH)
  assert.equal(relay.state.counters.bytesDown, SUCCESS.length + MEDIA.length)
})

test('the store hears of a call at its first success and then now and then', () => {
  relay.check('call1')
  const events = [0, 1, 2, 3].map((second) => {
    relay.now += second * 2_600
    relay.down(T1, SUCCESS)
    return relay.decision.event
  })
  assert.deepEqual(events, ['confirmed', undefined, 'refreshed', 'refreshed'])
})

test('what comes back is counted by flow and in all', () => {
  relay.connect('call1', T1)
  relay.up(MEDIA)
  relay.down(T1, MEDIA)
  const { packetsUp, packetsDown, bytesUp } = relay.state.counters
  const flow = relay.state.flows.page(0, 10).flows[0]!
  assert.deepEqual([packetsUp, packetsDown], [2, 2])
  assert.deepEqual([flow.packetsUp, flow.packetsDown, flow.bytesUp], [2, 2, bytesUp])
})
