/** From OpenSSL's records to ours, each time with a peer that stays on OpenSSL. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DtlsConnection } from '../../../../../core/index.ts'
import { hasEncrypted, identity, Pair, type PairOptions, recordsOf } from './dtls-pair.ts'

const ROLES = ['server', 'client'] as const
const other = (role: 'server' | 'client') => (role === 'server' ? 'client' : 'server')

/** A pair of which `role` has handed over, with the messages `first` (to it) and `last` (from it) behind them. */
function handedOver(role: 'server' | 'client', options: PairOptions = {}): Pair {
  const before = DtlsConnection.live
  const pair = new Pair({ ...options, handsOver: role }).connect()
  pair.say(other(role), 'first')
  pair.say(role, 'last')
  assert.equal(DtlsConnection.live, before + 1, 'the peer’s connection alone is left')
  return pair
}

/** Sends from a side without delivering; the datagrams. */
function held(pair: Pair, role: 'server' | 'client', ...texts: string[]): Buffer[] {
  for (const text of texts) assert.ok(pair[role].endpoint.write(Buffer.from(text)))
  return pair.wire.splice(0).map((one) => one.datagram)
}

/** Lets OpenSSL's own clock run to a side's deadline, and ticks. */
function expire(pair: Pair, role: 'server' | 'client'): void {
  const { endpoint } = pair[role]
  const until = performance.now() + endpoint.deadline - pair.now
  while (performance.now() < until) {}
  pair.now = endpoint.deadline
  endpoint.tick(pair.now)
}

test('a server hands over at the client’s first message, not before; messages flow all the while', () => {
  const before = DtlsConnection.live
  const pair = new Pair({ handsOver: 'server' }).connect()
  assert.equal(DtlsConnection.live, before + 2)
  pair.say('server', 'before')
  assert.equal(DtlsConnection.live, before + 2)
  const [late, during] = held(pair, 'server', 'on its way', 'during')
  pair.say('client', 'I have finished')
  assert.equal(DtlsConnection.live, before + 1)
  pair.hand(pair.client, during!)
  pair.say('server', 'after')
  pair.hand(pair.client, late!)
  for (let i = 0; i < 100; i++) {
    pair.say('client', `up ${i}`)
    pair.say('server', `down ${i}`)
  }
  const down = Array.from({ length: 100 }, (_, i) => `down ${i}`)
  const up = Array.from({ length: 100 }, (_, i) => `up ${i}`)
  assert.deepEqual(pair.client.messages, ['before', 'during', 'after', 'on its way', ...down])
  assert.deepEqual(pair.server.messages, ['I have finished', ...up])
  pair.close()
  assert.equal(DtlsConnection.live, before)
})

test('a client hands over at completion', () => {
  const before = DtlsConnection.live
  const pair = new Pair({ handsOver: 'client' }).connect()
  assert.equal(DtlsConnection.live, before + 1)
  for (let i = 0; i < 100; i++) {
    pair.say('server', `down ${i}`)
    pair.say('client', `up ${i}`)
  }
  assert.equal(pair.client.messages.length, 100)
  assert.equal(pair.server.messages.at(-1), 'up 99')
  pair.close()
  assert.equal(DtlsConnection.live, before)
})

test('a server that is told of the client’s SRTP hands over; before the end of the handshake it does not', () => {
  const before = DtlsConnection.live
  const pair = new Pair({ handsOver: 'server' })
  pair.server.endpoint.settle()
  pair.start()
  pair.deliver(2)
  pair.server.endpoint.settle()
  assert.equal(DtlsConnection.live, before + 2)
  pair.deliver()
  pair.server.endpoint.settle()
  assert.equal(DtlsConnection.live, before + 1)
  pair.server.endpoint.settle()
  pair.client.endpoint.settle()
  pair.say('server', 'down')
  pair.say('client', 'up')
  assert.deepEqual([...pair.client.messages, ...pair.server.messages], ['down', 'up'])
  pair.close()
  pair.server.endpoint.settle()
})

test('two ends that have both handed over understand each other', () => {
  const before = DtlsConnection.live
  const pair = new Pair().connect()
  pair.say('client', 'first')
  assert.equal(DtlsConnection.live, before)
  pair.say('client', 'up')
  pair.say('server', 'down')
  assert.deepEqual(pair.server.messages, ['first', 'up'])
  assert.deepEqual(pair.client.messages, ['down'])
  pair.server.endpoint.close()
  pair.deliver()
  assert.deepEqual(pair.client.ends, ['close_notify'])
})

test('a server whose Finished was lost repeats it until the client has shown that it came', () => {
  const before = DtlsConnection.live
  const pair = new Pair({ handsOver: 'server' })
  pair.start()
  pair.deliver(3)
  for (let lost = 0; lost < 3; lost++) {
    assert.equal(pair.wire.splice(0).filter((one) => hasEncrypted(one.datagram)).length, 1)
    expire(pair, 'client')
    pair.deliver(1)
    assert.equal(DtlsConnection.live, before + 2)
  }
  pair.deliver()
  assert.equal(pair.client.endpoint.state, 'connected')
  pair.say('client', 'here at last')
  assert.equal(DtlsConnection.live, before + 1, 'also when Finished went out several times')
  pair.say('server', 'welcome')
  assert.deepEqual(pair.client.messages, ['welcome'])
  const { length } = pair.server.sent
  for (const datagram of pair.client.sent.slice(0, -1)) pair.hand(pair.server, datagram)
  assert.equal(pair.server.sent.length, length, 'and the flights of then are not answered any more')
  assert.deepEqual(pair.server.messages, ['here at last'])
  pair.close()
})

for (const role of ROLES) {
  test(`${role}: nothing is delivered twice, whoever read it first`, () => {
    const pair = handedOver(role)
    for (let i = 0; i < 10; i++) pair.say(other(role), `more ${i}`)
    const { messages, endpoint } = pair[role]
    assert.equal(messages.length, 11)
    const sent = pair[role].sent.length
    for (let round = 0; round < 2; round++) {
      for (const datagram of pair[other(role)].sent) assert.equal(pair.hand(pair[role], datagram), false)
    }
    assert.equal(messages.length, 11)
    assert.equal(pair[role].sent.length, sent, 'and nothing is answered')
    assert.equal(endpoint.state, 'connected')
    pair.close()
  })

  test(`${role}: records that were overtaken by the hand-over are delivered, once`, () => {
    const pair = new Pair({ handsOver: role }).connect()
    const [a, b, c] = held(pair, other(role), 'a', 'b', 'c')
    const got = [b, a, b, c, a, c].map((datagram) => pair.hand(pair[role], datagram!))
    assert.deepEqual(
      got,
      [true, false, false, true, false, false],
      'only a newest one shows where the peer is',
    )
    assert.deepEqual(pair[role].messages, ['b', 'a', 'c'])
    pair.close()
  })

  test(`${role}: a record with any bit flipped, cut anywhere or of another epoch is dropped`, () => {
    const pair = handedOver(role)
    const [good] = held(pair, other(role), 'genuine')
    for (let bit = 0; bit < good!.length * 8; bit++) {
      const bad = Buffer.from(good!)
      bad[bit >> 3]! ^= 1 << (bit & 7)
      assert.equal(pair.hand(pair[role], bad), false, `bit ${bit}`)
    }
    for (let length = 0; length < good!.length; length++) {
      const short = Buffer.from(good!.subarray(0, length))
      assert.equal(pair.hand(pair[role], short), false)
      if (length < 13) continue
      short.writeUInt16BE(length - 13, 11)
      assert.equal(pair.hand(pair[role], short), false, `cut to ${length}`)
    }
    assert.deepEqual(pair[role].messages, ['first'])
    assert.equal(pair.hand(pair[role], good!), true)
    assert.deepEqual(pair[role].messages, ['first', 'genuine'])
    pair.close()
  })

  test(`${role}: several records in a datagram are read, forged ones between them or not`, () => {
    const pair = handedOver(role)
    const [a, b] = held(pair, other(role), 'a', 'b')
    const forged = Buffer.from(b!)
    forged.writeUIntBE(2 ** 47, 5, 6)
    assert.equal(pair.hand(pair[role], Buffer.concat([forged, a!, forged, b!, a!])), true)
    assert.deepEqual(pair[role].messages, ['first', 'a', 'b'])
    pair.close()
  })

  test(`${role}: closes with close_notify, and hears the peer’s`, () => {
    const before = DtlsConnection.live
    const leaving = handedOver(role)
    leaving[role].endpoint.close()
    leaving.deliver()
    assert.deepEqual(leaving[other(role)].ends, ['close_notify'])
    assert.equal(leaving[other(role)].endpoint.state, 'closed')
    const left = handedOver(role)
    left[other(role)].endpoint.close()
    const sent = left[role].sent.length
    left.deliver()
    assert.deepEqual(left[role].ends, ['close_notify'])
    assert.equal(left[role].sent.length, sent + 1, 'and answers with its own')
    assert.equal(left[role].endpoint.write(Buffer.from('x')), false)
    assert.equal(DtlsConnection.live, before)
  })

  test(`${role}: no explicit nonce and no number comes twice in its life`, () => {
    const pair = new Pair({ handsOver: role })
    pair.start()
    pair.deliver(2)
    // The flight is lost once, so that Finished is repeated.
    pair.wire.splice(0)
    expire(pair, 'client')
    pair.deliver()
    for (let i = 0; i < 40; i++) {
      pair.say(role, `down ${i}`)
      if (i >= 5) pair.say(other(role), `up ${i}`)
    }
    assert.equal(pair[other(role)].messages.length, 40)
    pair[role].endpoint.close()
    const records = recordsOf(pair[role].sent).filter((one) => one.readUInt16BE(3) === 1)
    assert.ok(records.length >= 42)
    const nonces = records.map((one) => one.readBigUInt64BE(13))
    assert.deepEqual(
      nonces,
      nonces.map((_, i) => BigInt.asUintN(64, nonces[0]! + BigInt(i))),
      'counted on from OpenSSL’s',
    )
    const numbers = records.map((one) => one.readUIntBE(5, 6))
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i),
    )
    pair.close()
  })
}

test('with another cipher suite OpenSSL goes on', () => {
  const before = DtlsConnection.live
  const ciphers = 'ECDHE-ECDSA-AES256-GCM-SHA384'
  const pair = new Pair({ server: identity({ ciphers }), client: identity({ ciphers }) }).connect()
  pair.say('client', 'up')
  pair.server.endpoint.settle()
  pair.say('server', 'down')
  pair.say('client', 'up again')
  assert.equal(DtlsConnection.live, before + 2)
  assert.deepEqual(pair.server.messages, ['up', 'up again'])
  assert.deepEqual(pair.client.messages, ['down'])
  pair.close()
})

test('a message that overtakes the server’s Finished is lost, not kept: its number could not be known', () => {
  const pair = new Pair()
  pair.start()
  pair.deliver(3)
  const [finished] = pair.wire.splice(0)
  const [early] = held(pair, 'server', 'early')
  assert.equal(pair.hand(pair.client, early!), false)
  pair.hand(pair.client, finished!.datagram)
  assert.equal(pair.client.endpoint.state, 'connected')
  assert.deepEqual(pair.client.messages, [])
  pair.say('server', 'later')
  assert.deepEqual(pair.client.messages, ['later'])
  pair.close()
})

test('closing and throwing inside handlers is as safe as before', () => {
  const before = DtlsConnection.live
  for (const role of ROLES) {
    let armed = false
    const act: { now: () => void } = { now() {} }
    const pair: Pair = new Pair({
      handsOver: role,
      onMessage: () => {
        if (armed) act.now()
      },
    }).connect()
    pair.say(other(role), 'first')
    armed = true
    act.now = () => pair.close()
    pair.say(other(role), 'close')
    assert.equal(pair[role].endpoint.state, 'closed')
    const thrown: Pair = new Pair({
      handsOver: role,
      onMessage: (message) => {
        if (message.toString() === 'throw') throw new Error('handler bug')
      },
    }).connect()
    thrown.say(other(role), 'first')
    thrown.say(other(role), 'throw')
    assert.deepEqual(thrown[role].ends, ['failed: a handler threw: handler bug'])
    thrown.close()
  }
  assert.equal(DtlsConnection.live, before)
})
