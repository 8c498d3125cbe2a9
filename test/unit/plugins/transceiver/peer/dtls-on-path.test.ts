/** An attacker on the path: repeated handshake messages, and edits of a ClientHello. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DtlsConnection } from '../../../../../core/index.ts'
import { Attacker } from './dtls-attacker.ts'
import { Pair } from './dtls-pair.ts'

/** The plaintext handshake records of a datagram. */
function plaintextPart(datagram: Buffer): Buffer {
  let at = 0
  while (at < datagram.length && datagram[at] === 22 && datagram.readUInt16BE(at + 3) === 0) {
    at += 13 + datagram.readUInt16BE(at + 11)
  }
  return datagram.subarray(0, at)
}

for (const [name, letThrough, forge] of [
  ['a second ClientKeyExchange', true, (attacker: Attacker) => attacker.secondKeyExchange()],
  ['a second Certificate', false, (attacker: Attacker) => attacker.secondCertificate()],
] as const) {
  test(`${name} does not get an attacker in`, () => {
    const before = DtlsConnection.live
    const attacker = new Attacker()
    let flights = 0
    const pair = new Pair({
      onWire: (datagram, up) => {
        attacker.see(datagram, up)
        if (!up || ++flights === 1) return datagram
        // The client's own proof passes, or not; its Finished never does.
        return letThrough ? plaintextPart(datagram) : undefined
      },
    }).connect()
    assert.equal(pair.server.endpoint.state, 'connecting')
    for (const forged of forge(attacker)) pair.hand(pair.server, forged)
    assert.equal(pair.server.endpoint.state, 'failed')
    assert.deepEqual(pair.server.keys, [])
    assert.ok(!pair.server.fresh.includes(true))
    pair.close()
    assert.equal(DtlsConnection.live, before)
  })
}

test('the attacker knows its trade: where its own certificate is the expected one, it gets in', () => {
  const attacker = new Attacker()
  let flights = 0
  const pair = new Pair({
    serverExpects: [{ algorithm: 'sha-256', value: attacker.fingerprint }],
    onWire: (datagram, up) => {
      attacker.see(datagram, up)
      return up && ++flights > 1 ? undefined : datagram
    },
  }).connect()
  for (const forged of attacker.secondCertificate(false)) pair.hand(pair.server, forged)
  assert.equal(pair.server.endpoint.state, 'connected')
  pair.close()
})

/** Lets `edit` change each ClientHello, then checks that neither side connects or gives out keys. */
function refusesEditedHello(edit: (hello: Buffer) => void) {
  let edits = 0
  const pair = new Pair({
    onWire: (datagram, up) => {
      if (up && datagram[0] === 22 && datagram[13] === 1) {
        edit(datagram)
        edits++
      }
      return datagram
    },
  }).connect()
  assert.equal(edits, 1)
  for (const side of [pair.server, pair.client]) {
    assert.notEqual(side.endpoint.state, 'connected')
    assert.deepEqual(side.keys, [])
  }
  pair.close()
}

/** Where an extension of this type begins in a ClientHello. */
function extension(hello: Buffer, ...start: number[]): number {
  const at = hello.indexOf(Buffer.from(start))
  assert.ok(at > 0)
  return at
}

test('a stripped extended_master_secret is noticed', () => {
  refusesEditedHello((hello) => {
    hello[extension(hello, 0, 23, 0, 0)] = 0x7f
  })
})

test('a downgraded SRTP profile is noticed', () => {
  refusesEditedHello((hello) => {
    const at = extension(hello, 0, 14, 0)
    const bytes = hello.readUInt16BE(at + 4)
    for (let i = 0; i < bytes; i += 2) hello.writeUInt16BE(1, at + 6 + i)
  })
})
