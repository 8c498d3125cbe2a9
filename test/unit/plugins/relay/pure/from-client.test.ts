import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { MAX_CLIENT_DATAGRAM } from '../../../../../plugins/relay/pure/limits.ts'
import { attribute, bindingRequest, stunMessage, USERNAME } from '../../../../stun-bytes.ts'
import {
  CLIENT,
  DTLS,
  INDICATION,
  LOCALS,
  MEDIA,
  SimulatedRelay,
  SUCCESS,
  T1,
  T2,
  T3,
  UPSTREAM,
} from '../simulated-relay.ts'

let relay: SimulatedRelay
beforeEach(() => {
  relay = new SimulatedRelay()
  relay.issue('call1', T1)
  relay.issue('call2', T2)
  relay.issue('call3', T3)
})

describe('Binding requests follow their USERNAME', () => {
  test('the first one opens a flow and goes to the transceiver', () => {
    assert.deepEqual(relay.check('call1'), [T1])
    assert.equal(relay.decision.event, 'opened')
    assert.equal(relay.state.flows.unconfirmed, 1)
  })
  test('whatever the flow says', () => {
    relay.connect('call1', T1)
    assert.deepEqual(relay.check('call2'), [T2])
  })
  test('a ufrag that the flow knows, or that was met lately, is not decoded again', () => {
    for (let i = 0; i < 10; i++) relay.check('call1')
    assert.equal(relay.decodes, 1)
    relay.check('call1', '198.51.100.8:1')
    assert.equal(relay.decodes, 1)
  })
  test('two USERNAMEs: the first counts, always', () => {
    const bytes = stunMessage(1, [attribute(USERNAME, 'call1:x'), attribute(USERNAME, 'call2:x')])
    assert.deepEqual(relay.up(bytes), [T1])
    relay.connect('call2', T2)
    assert.deepEqual(relay.up(bytes), [T1])
  })
  test('unknown and large attributes pass', () => {
    const bytes = stunMessage(1, [attribute(0x7fff, Buffer.alloc(1000)), attribute(USERNAME, 'call1:x')])
    assert.deepEqual(relay.up(bytes), [T1])
  })
  test('without USERNAME they follow the live route, and nothing else', () => {
    const bare = stunMessage(1, [])
    relay.check('call1')
    assert.equal(relay.up(bare), 'no_route')
    relay.down(T1, SUCCESS)
    relay.check('call2')
    assert.deepEqual(relay.up(bare), [T1])
  })
})

describe('everything else follows the flow', () => {
  test('media and DTLS go to the live route, not to one that waits', () => {
    relay.check('call1')
    assert.equal(relay.up(MEDIA), 'no_route')
    relay.down(T1, SUCCESS)
    relay.check('call2')
    assert.deepEqual([relay.up(MEDIA), relay.up(DTLS)], [[T1], [T1]])
  })
  test('other STUN goes to live and pending routes', () => {
    relay.connect('call1', T1)
    relay.check('call2')
    assert.deepEqual(
      [relay.up(SUCCESS), relay.up(INDICATION)],
      [
        [T1, T2],
        [T1, T2],
      ],
    )
  })
  test('a success response from a client confirms nothing', () => {
    relay.check('call1')
    relay.up(SUCCESS)
    assert.equal(relay.up(MEDIA), 'no_route')
    assert.equal(relay.state.flows.confirmed, 0)
  })
  test('a client without a flow is unknown: only what is not STUN is worth a look-up', () => {
    assert.equal(relay.up(MEDIA), 'no_route')
    assert.ok(relay.decision.wantsLookUp)
    assert.equal(relay.up(INDICATION), 'no_route')
    assert.ok(!relay.decision.wantsLookUp)
  })
})

describe('the key of a flow', () => {
  test('field report 3: clients behind one ip are told apart by their ports', () => {
    relay.connect('call1', T1, '198.51.100.7:1')
    relay.connect('call2', T2, '198.51.100.7:2')
    assert.deepEqual(relay.up(MEDIA, '198.51.100.7:1'), [T1])
    assert.deepEqual(relay.up(MEDIA, '198.51.100.7:2'), [T2])
  })
  test('one client at two of our sockets has two flows', () => {
    relay.connect('call1', T1)
    assert.equal(relay.up(MEDIA, CLIENT, 2), 'no_route')
    assert.deepEqual(relay.check('call2', CLIENT, 2), [T2])
    assert.deepEqual(relay.up(MEDIA, CLIENT, 0), [T1])
  })
  test('field report 20: a mapped address is its IPv4 one', () => {
    relay.connect('call1', T1, '[::ffff:198.51.100.7]:40000')
    assert.deepEqual(relay.up(MEDIA, '198.51.100.7:40000'), [T1])
    assert.equal(relay.state.flows.page(0, 1).flows[0]!.client.host, '198.51.100.7')
  })
  test('IPv6 clients are served like others', () => {
    const client = '[2001:db8:1::7]:40000'
    assert.deepEqual(relay.check('call1', client, 1), [T1])
    assert.deepEqual(relay.down(T1, SUCCESS, client, LOCALS[1]!), [`${LOCALS[1]} > ${client}`])
    assert.deepEqual(relay.up(MEDIA, client, 1), [T1])
  })
})

describe('what is dropped', () => {
  test('by the first byte; field report 13: RTP is 128 to 191 only', () => {
    const first = (byte: number): unknown => relay.up(Buffer.from([byte, 111, 0, 1]))
    for (const byte of [4, 19, 64, 127, 192, 255]) assert.equal(first(byte), 'unknown_protocol', `${byte}`)
    assert.equal(first(0x56), 'framing')
    relay.connect('call1', T1)
    assert.deepEqual([first(128), first(191), first(20), first(63)], [[T1], [T1], [T1], [T1]])
    for (const byte of [127, 192]) assert.equal(first(byte), 'unknown_protocol')
  })
  test('empty, too long and malformed datagrams', () => {
    relay.connect('call1', T1)
    assert.equal(relay.up(Buffer.alloc(0)), 'empty')
    assert.deepEqual(relay.up(Buffer.alloc(MAX_CLIENT_DATAGRAM, 0x80)), [T1])
    assert.equal(relay.up(Buffer.alloc(MAX_CLIENT_DATAGRAM + 1, 0x80)), 'oversize')
    const check = bindingRequest('call1:client')
    for (let length = 1; length < check.length; length++) {
      assert.equal(relay.up(check.subarray(0, length)), 'malformed_stun')
    }
  })
  test('ufrags that no codec wrote, without a decode', () => {
    for (const ufrag of ['', 'abc', 'ABCD', 'ab+d', 'ab/d', 'x'.repeat(97), 'x'.repeat(256)]) {
      assert.equal(relay.check(ufrag), 'bad_ufrag', ufrag)
    }
    assert.equal(relay.up(bindingRequest('nocolon')), 'bad_ufrag')
    assert.equal(relay.decodes, 0)
  })
  test('a forged ufrag, once decoded and then remembered', () => {
    for (let i = 0; i < 5; i++) assert.equal(relay.check('forged'), 'unroutable_ufrag')
    assert.equal(relay.decodes, 1)
    assert.equal(relay.state.flows.unconfirmed, 0)
    relay.now += 5_000
    relay.issue('forged', T1)
    assert.deepEqual(relay.check('forged'), [T1])
  })
  test('routes outside the CIDRs or ports, of another cluster, and to ourselves', () => {
    const to = (route: string, cluster?: number): unknown => {
      const ufrag = route.replaceAll(/[^0-9a-f]/g, 'x')
      relay.issue(ufrag, route, cluster)
      return relay.check(ufrag)
    }
    assert.equal(to('10.0.1.1:3479'), 'route_not_allowed')
    assert.equal(to('10.0.0.1:3478'), 'route_not_allowed')
    assert.equal(to('10.0.0.1:3491'), 'route_not_allowed')
    assert.equal(to('[2001:db8::1]:3479'), 'route_not_allowed')
    assert.equal(to('10.0.0.9:3479', 2), 'foreign_cluster')
    assert.equal(to(String(UPSTREAM)), 'own_address')
    for (const local of LOCALS) assert.equal(to(String(local)), 'own_address')
    assert.deepEqual(to('[::ffff:10.0.0.8]:3479'), ['10.0.0.8:3479'])
  })
  test('clients that cannot be: ourselves, port 0, no unicast address', () => {
    for (const client of [String(LOCALS[2]), '198.51.100.7:0', '0.0.0.0:5', '224.0.0.1:5', '[ff02::1]:5']) {
      assert.equal(relay.check('call1', client), 'bad_source', client)
    }
  })
  test('field report 15: bare STUN is dropped, and the relay has nothing that could answer', () => {
    assert.equal(relay.up(stunMessage(1, [])), 'no_route')
    assert.equal(relay.decision.count, 0)
  })
})
