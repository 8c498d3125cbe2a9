/** Datagrams that anyone could send into a session, before, during and after its handshake. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { DtlsConnection } from '../../../../../core/index.ts'
import { hasEncrypted, message, Pair, record } from './dtls-pair.ts'

/** Bytes that look random and are the same in each run. */
function noise(seed: number, length: number): Buffer {
  const parts: Buffer[] = []
  for (let i = 0; i * 32 < length; i++) parts.push(createHash('sha256').update(`${seed} ${i}`).digest())
  return Buffer.concat(parts).subarray(0, length)
}

const injections: Record<string, (i: number) => Buffer> = {
  'plaintext data': (i) => record(23, 0, 900 + i, Buffer.from('plain data')),
  'plaintext fatal alert': (i) => record(21, 0, 900 + i, Buffer.of(2, 40)),
  'plaintext close_notify': (i) => record(21, 0, 900 + i, Buffer.of(1, 0)),
  'plaintext no_renegotiation': (i) => record(21, 0, 900 + i, Buffer.of(1, 100)),
  'junk plaintext handshake': (i) => record(22, 0, 900 + i, noise(i, 300)),
  'junk encrypted data': (i) => record(23, 1, 900 + i, noise(i, 60)),
  'junk encrypted alert': (i) => record(21, 1, 900 + i, noise(i, 60)),
  'junk encrypted handshake': (i) => record(22, 1, 900 + i, noise(i, 100)),
  'junk of a later epoch': (i) => record(i % 2 === 0 ? 22 : 23, 2, i, noise(i, 100)),
  'too short an encrypted record': (i) => record(23, 1, 900 + i, noise(i, i % 24)),
  'truncated records': (i) => record(23, 1, 900 + i, noise(i, 60)).subarray(0, 13 + i),
  'an unknown type': (i) => record(24, 1, 900 + i, noise(i, 60)),
}

for (const [name, make] of Object.entries(injections)) {
  test(`${name}: a session goes on`, () => {
    const pair = new Pair().connect()
    for (let i = 0; i < 60; i++) {
      assert.equal(pair.hand(pair.server, make(i)), false)
      assert.equal(pair.hand(pair.client, make(i)), false)
    }
    pair.say('client', 'still here')
    pair.say('server', 'so am I')
    assert.deepEqual(pair.server.messages, ['still here'])
    assert.deepEqual(pair.client.messages, ['so am I'])
    pair.close()
  })

  for (const delivered of [0, 1, 2]) {
    test(`${name}: a handshake after ${delivered} datagrams goes on`, () => {
      const pair = new Pair()
      pair.start()
      pair.deliver(delivered)
      for (let i = 0; i < 60; i++) {
        pair.hand(pair.server, make(i))
        pair.hand(pair.client, make(i))
      }
      pair.deliver()
      assert.equal(pair.server.endpoint.state, 'connected', pair.server.ends.join())
      assert.equal(pair.client.endpoint.state, 'connected', pair.client.ends.join())
      pair.close()
    })
  }
}

for (const [name, numbers] of [
  ['the highest', [2 ** 48 - 1]],
  ['every one of the first hundred', Array.from({ length: 100 }, (_, n) => n)],
] as const) {
  test(`copies of the first flights under another number, ${name}: a handshake goes on`, () => {
    const pair = new Pair()
    pair.start()
    for (const [from, to] of [
      [pair.client, pair.server],
      [pair.server, pair.client],
    ] as const) {
      for (const number of numbers) {
        const copy = Buffer.from(from.sent[0]!)
        copy.writeUIntBE(number, 5, 6)
        pair.hand(to, copy)
      }
      pair.deliver(1)
    }
    pair.deliver()
    assert.equal(pair.server.endpoint.state, 'connected', pair.server.ends.join())
    assert.equal(pair.client.endpoint.state, 'connected', pair.client.ends.join())
    pair.close()
  })
}

test('a replayed ClientHello does not disturb a live session', () => {
  const pair = new Pair().connect()
  const sent = pair.server.sent.length
  for (let i = 0; i < 50; i++) assert.equal(pair.hand(pair.server, pair.client.sent[0]!), false)
  assert.equal(pair.server.sent.length, sent, 'nor is it answered')
  pair.say('client', 'still here')
  assert.deepEqual(pair.server.messages, ['still here'])
  pair.close()
})

test('a replayed message is delivered once', () => {
  const seen: Buffer[] = []
  const pair = new Pair({
    onWire: (datagram, up) => {
      if (up && datagram[0] === 23) seen.push(datagram)
      return datagram
    },
  }).connect()
  pair.say('client', 'once')
  for (let i = 0; i < 5; i++) assert.equal(pair.hand(pair.server, seen[0]!), false)
  assert.deepEqual(pair.server.messages, ['once'])
  pair.close()
})

test('a repeated last flight of the client is answered, plaintext records in front or not', () => {
  const pair = new Pair()
  pair.start()
  pair.deliver(3)
  const lost = pair.wire.splice(0)
  assert.equal(lost.length, 1, 'the server’s Finished')
  assert.equal(pair.server.endpoint.state, 'connected')
  // The client repeats its flight when its timer, on OpenSSL's own clock, has run out.
  const until = performance.now() + pair.client.endpoint.deadline - pair.now
  while (performance.now() < until) {}
  pair.now = pair.client.endpoint.deadline
  pair.client.endpoint.tick(pair.now)
  const repeated = pair.wire[0]!.datagram
  assert.ok(
    hasEncrypted(repeated) && repeated.readUInt16BE(3) === 0,
    'packed: plaintext in front of Finished',
  )
  pair.deliver()
  assert.equal(pair.client.endpoint.state, 'connected')
  pair.say('client', 'late but here')
  assert.deepEqual(pair.server.messages, ['late but here'])
  pair.close()
})

test('data before the proof is not delivered, nor ever if the proof fails', () => {
  let data: Buffer | undefined
  const pair = new Pair({ onWire: (datagram, up) => (up && hasEncrypted(datagram) ? undefined : datagram) })
  pair.start()
  for (let i = 0; i < 3; i++) pair.hand(pair.server, record(23, 0, i, Buffer.from('let me in')))
  pair.deliver()
  for (let i = 0; i < 50; i++) {
    data = record(23, 1, i, noise(i, 60))
    assert.equal(pair.hand(pair.server, data), false)
  }
  assert.deepEqual(pair.server.messages, [])
  assert.equal(pair.server.endpoint.state, 'connecting')
  assert.equal(pair.server.endpoint.write(Buffer.from('too early')), false)
  pair.close()
})

test('a flood of one ClientHello gets a bounded answer', () => {
  const pair = new Pair()
  pair.start()
  const hello = pair.client.sent[0]!
  for (let i = 0; i < 2000; i++) pair.hand(pair.server, hello)
  const answered = pair.server.sent.reduce((sum, datagram) => sum + datagram.length, 0)
  assert.ok(pair.server.sent.length <= 2, `${pair.server.sent.length} datagrams`)
  assert.ok(answered <= 2400, `${answered} bytes`)
  pair.close()
})

test('a flood of ClientHellos that differ in their record’s number gets a bounded answer too', () => {
  const pair = new Pair()
  pair.start()
  const hello = Buffer.from(pair.client.sent[0]!)
  for (let i = 0; i < 2000; i++) {
    hello.writeUIntBE(i, 5, 6)
    pair.hand(pair.server, hello)
  }
  assert.ok(pair.server.sent.length <= 2, `${pair.server.sent.length} datagrams`)
  pair.close()
})

test('empty fragments that claim 16 KB each are not let through, and cost no memory', () => {
  const parts: Buffer[] = []
  for (let i = 0; i < 95; i++) {
    const fragment = message(11, 1 + (i % 7), Buffer.alloc(0))
    fragment.writeUIntBE(16384 - (i & 1), 1, 3)
    parts.push(fragment)
  }
  const datagram = record(22, 0, 0, Buffer.concat(parts))
  const pair = new Pair()
  pair.start()
  const before = process.memoryUsage.rss()
  for (let i = 0; i < 3000; i++) {
    datagram.writeUIntBE(i, 5, 6)
    pair.hand(pair.server, datagram)
  }
  assert.equal(pair.server.endpoint.dropped, 3000)
  assert.ok(process.memoryUsage.rss() - before < 32 * 2 ** 20)
  pair.deliver()
  assert.equal(pair.server.endpoint.state, 'connected')
  pair.close()
})

test('3000 sessions of junk: nothing thrown, nothing left', () => {
  const before = DtlsConnection.live
  for (let k = 0; k < 3000; k++) {
    const pair = new Pair()
    pair.server.endpoint.start(0)
    for (let i = 0; i < 3; i++) {
      const body = Buffer.from(noise(k * 3 + i, 13 + ((k * 37 + i * 101) % 300)))
      if (k % 5 === 2 && body.length > 25) {
        body.fill(0, 0, 12)
        body[0] = k % 25
        body.writeUIntBE(body.length - 12, 1, 3)
        body.writeUIntBE(body.length - 12, 9, 3)
      }
      pair.hand(pair.server, record(20 + (k % 5), k % 7 === 6 ? 1 : 0, i, body))
      pair.hand(pair.client, record(20 + (k % 5), k % 7 === 6 ? 1 : 0, i, body))
    }
    pair.close()
  }
  assert.equal(DtlsConnection.live, before)
})
