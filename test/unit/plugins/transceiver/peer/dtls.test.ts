/** What two honest endpoints do. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DtlsConnection } from '../../../../../core/index.ts'
import { DtlsEndpoint, MAX_DTLS_MESSAGE } from '../../../../../plugins/transceiver/peer/dtls.ts'
import { identity, ours, Pair, theirs } from './dtls-pair.ts'

test('both sides connect, with equal keys the other way round, profile AEAD_AES_128_GCM', () => {
  const pair = new Pair().connect()
  const [server] = pair.server.keys
  const [client] = pair.client.keys
  assert.equal(pair.server.endpoint.state, 'connected')
  assert.equal(pair.client.endpoint.state, 'connected')
  assert.equal(server?.profile, 7)
  assert.deepEqual(server?.localKey, client?.remoteKey)
  assert.deepEqual(server?.remoteSalt, client?.localSalt)
  assert.notDeepEqual(server?.localKey, server?.remoteKey)
  assert.equal(server?.localKey.length, 16)
  assert.equal(server?.localSalt.length, 12)
  assert.equal(pair.server.endpoint.deadline, Infinity)
  pair.close()
})

test('a peer that has only AES128_CM_SHA1_80, or only P-256, is served', () => {
  const plain = identity({ srtpProfiles: 'SRTP_AES128_CM_SHA1_80' })
  const pair = new Pair({ client: plain }).connect()
  assert.equal(pair.server.keys[0]?.profile, 1)
  assert.equal(pair.client.keys[0]?.localSalt.length, 14)
  pair.close()
  const curve = new Pair({ client: identity({ groups: 'P-256' }) }).connect()
  assert.equal(curve.server.endpoint.state, 'connected')
  curve.close()
})

test('messages arrive both ways, up to the longest; longer and empty ones are refused', () => {
  const pair = new Pair().connect()
  assert.ok(pair.say('client', 'up'))
  assert.ok(pair.say('server', 'down'))
  assert.ok(pair.say('client', 'x'.repeat(MAX_DTLS_MESSAGE)))
  assert.ok(!pair.say('client', 'x'.repeat(MAX_DTLS_MESSAGE + 1)))
  assert.ok(!pair.say('client', ''))
  assert.deepEqual(pair.server.messages, ['up', 'x'.repeat(MAX_DTLS_MESSAGE)])
  assert.deepEqual(pair.client.messages, ['down'])
  pair.close()
})

test('flights are packed into datagrams of at most 1200 bytes', () => {
  const pair = new Pair().connect()
  const sizes = [...pair.server.sent, ...pair.client.sent].map((datagram) => datagram.length)
  assert.ok(Math.max(...sizes) <= 1200)
  assert.equal(pair.client.sent.length, 2, 'ClientHello; Certificate to Finished')
  assert.equal(pair.server.sent.length, 2, 'ServerHello to ServerHelloDone; Finished')
  pair.close()
})

test('a message that comes in one datagram with Finished is delivered after the keys', () => {
  const order: string[] = []
  let held: Buffer | undefined
  const pair = new Pair({
    onConnected: (side) => {
      order.push(`${side} connected`)
      if (side === 'server') pair.server.endpoint.write(Buffer.from('early'))
    },
    onMessage: (_message, side) => order.push(`${side} message`),
    onWire: (datagram, up) => {
      if (up || pair.server.endpoint.state !== 'connected') return datagram
      if (!held) {
        held = datagram
        return undefined
      }
      return Buffer.concat([held, datagram])
    },
  })
  pair.connect()
  assert.deepEqual(order, ['server connected', 'client connected', 'client message'])
  pair.close()
})

test('receive tells whether the handshake completed or a newest record came', () => {
  const pair = new Pair().connect()
  assert.deepEqual(pair.server.fresh, [false, true])
  assert.deepEqual(pair.client.fresh, [false, true])
  for (const text of ['a', 'b', 'c']) pair.client.endpoint.write(Buffer.from(text))
  const [a, b, c] = pair.wire.splice(0).map((one) => one.datagram)
  assert.equal(pair.hand(pair.server, b!), true)
  assert.equal(pair.hand(pair.server, a!), false, 'authentic but late')
  assert.equal(pair.hand(pair.server, b!), false, 'replayed')
  assert.deepEqual(pair.server.messages, ['b', 'a'])
  // A late record with a forged newer one behind it.
  pair.client.endpoint.write(Buffer.from('d'))
  const d = pair.wire.splice(0)[0]!.datagram
  assert.equal(pair.hand(pair.server, d), true)
  const forged = Buffer.from(d)
  forged.writeUIntBE(2 ** 40, 5, 6)
  assert.equal(pair.hand(pair.server, Buffer.concat([c!, forged])), false)
  assert.deepEqual(pair.server.messages, ['b', 'a', 'd', 'c'])
  pair.close()
})

test('close sends close_notify, which ends the other side; nothing is left', () => {
  const before = DtlsConnection.live
  const pair = new Pair().connect()
  pair.server.endpoint.close()
  pair.deliver()
  assert.deepEqual(pair.client.ends, ['close_notify'])
  assert.deepEqual(pair.server.ends, [], 'one’s own wish needs no telling')
  assert.equal(pair.client.endpoint.state, 'closed')
  assert.equal(pair.server.endpoint.state, 'closed')
  assert.equal(DtlsConnection.live, before)
})

test('everything is harmless after close', () => {
  const pair = new Pair().connect()
  pair.close()
  const { endpoint } = pair.server
  endpoint.close()
  endpoint.start(0)
  endpoint.tick(Infinity)
  assert.equal(endpoint.write(Buffer.from('x')), false)
  assert.equal(endpoint.receive(Buffer.alloc(100, 22), 0, 100, 0), false)
  assert.equal(endpoint.state, 'closed')
})

for (const place of ['onMessage', 'onConnected', 'onClosed'] as const) {
  test(`closing inside ${place} is safe`, () => {
    const before = DtlsConnection.live
    const pair: Pair = new Pair({ [place]: () => pair.close() })
    pair.connect()
    pair.say('client', 'one')
    pair.client.endpoint.close()
    pair.deliver()
    pair.close()
    assert.ok(![...pair.server.ends, ...pair.client.ends].join().includes('threw'))
    assert.equal(DtlsConnection.live, before)
  })

  test(`a throw in ${place} ends that session and goes no further`, () => {
    const before = DtlsConnection.live
    const thrower = () => {
      throw new Error('handler bug')
    }
    const pair = new Pair({ [place]: thrower }).connect()
    pair.say('client', 'one')
    pair.client.endpoint.close()
    pair.deliver()
    const failed = pair.server.ends.join() + pair.client.ends.join()
    assert.match(failed, place === 'onClosed' ? /close_notify/ : /failed: a handler threw: handler bug/)
    pair.close()
    assert.equal(DtlsConnection.live, before)
  })
}

test('a throwing or closing send is survived, on every path that sends', () => {
  const before = DtlsConnection.live
  for (const misbehave of ['throw', 'close']) {
    for (let calls = 0; calls < 3; calls++) {
      let left = calls
      let misbehaving: DtlsEndpoint | undefined
      const good = new Pair()
      misbehaving = new DtlsEndpoint({
        role: 'client',
        fingerprints: ours.fingerprints,
        context: theirs.context,
        send: (datagram) => {
          if (left-- > 0) return void good.hand(good.server, datagram)
          if (misbehave === 'throw') throw new Error('socket gone')
          misbehaving?.close()
        },
        onConnected: () => misbehaving?.write(Buffer.from('hello')),
        onMessage() {},
        onClosed() {},
      })
      misbehaving.start(0)
      for (const { datagram } of good.wire.splice(0)) misbehaving.receive(datagram, 0, datagram.length, 0)
      for (const { datagram } of good.wire.splice(0)) misbehaving.receive(datagram, 0, datagram.length, 0)
      misbehaving.close()
      good.close()
      assert.match(misbehaving.state, misbehave === 'throw' ? /failed|closed/ : /closed/)
    }
  }
  assert.equal(DtlsConnection.live, before)
})

test('a server waits without a timer; a client that hears nothing gives up after its retries', () => {
  const pair = new Pair()
  pair.start()
  assert.equal(pair.server.endpoint.deadline, Infinity)
  const { deadline } = pair.client.endpoint
  assert.ok(deadline > pair.now && deadline <= pair.now + 100)
  pair.client.endpoint.tick(deadline - 1)
  assert.equal(pair.client.sent.length, 1)
  pair.close()
})
