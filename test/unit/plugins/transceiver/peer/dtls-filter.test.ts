import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptable, MAX_DTLS_DATAGRAM } from '../../../../../plugins/transceiver/peer/dtls-filter.ts'
import { message, record } from './dtls-pair.ts'

type Role = 'server' | 'client'
const passes = (datagram: Buffer, role: Role = 'server') =>
  acceptable(Buffer.concat([Buffer.alloc(5, 0xff), datagram, Buffer.alloc(9)]), 5, 5 + datagram.length, role)

const CLIENT_HELLO = record(22, 0, 0, message(1, 0, Buffer.alloc(60)))
const CHANGE_CIPHER_SPEC = record(20, 0, 5, Buffer.of(1))
const ENCRYPTED = record(23, 1, 7, Buffer.alloc(24))

test('what a handshake and a session consist of passes', () => {
  assert.ok(passes(CLIENT_HELLO))
  assert.ok(passes(CHANGE_CIPHER_SPEC))
  assert.ok(passes(Buffer.concat([CLIENT_HELLO, CHANGE_CIPHER_SPEC, record(22, 1, 0, Buffer.alloc(40))])))
  assert.ok(passes(record(22, 0, 1, message(14, 3, Buffer.alloc(0))), 'client'), 'ServerHelloDone is empty')
  assert.ok(passes(ENCRYPTED))
  assert.ok(passes(record(21, 1, 9, Buffer.alloc(26)), 'client'))
})

test('an encrypted record shorter than AES-GCM’s overhead is dropped', () => {
  for (const length of [0, 1, 23]) {
    assert.ok(!passes(record(23, 1, 7, Buffer.alloc(length))), String(length))
    assert.ok(!passes(record(22, 1, 7, Buffer.alloc(length))), String(length))
  }
})

test('plaintext alerts and data are dropped, alone or behind another record', () => {
  assert.ok(!passes(record(21, 0, 1, Buffer.of(2, 40))))
  assert.ok(!passes(record(23, 0, 1, Buffer.from('plain'))))
  assert.ok(!passes(Buffer.concat([ENCRYPTED, record(21, 0, 1, Buffer.of(2, 40))])))
})

test('plaintext passes in front of an encrypted record: a repeated last flight', () => {
  assert.ok(passes(Buffer.concat([CHANGE_CIPHER_SPEC, record(22, 1, 1, Buffer.alloc(40))]), 'client'))
})

test('messages that the peer’s role does not send are dropped', () => {
  assert.ok(!passes(CLIENT_HELLO, 'client'))
  for (const type of [0, 2, 12, 13, 14, 33, 255]) {
    assert.ok(!passes(record(22, 0, 1, message(type, 0, Buffer.alloc(30)))), String(type))
  }
  for (const type of [0, 1, 15, 16, 34, 255]) {
    assert.ok(!passes(record(22, 0, 1, message(type, 0, Buffer.alloc(30))), 'client'), String(type))
  }
})

test('malformed fragments are dropped', () => {
  const fragment = (length: number, offset: number, size: number, body: number) => {
    const bytes = message(11, 1, Buffer.alloc(body))
    bytes.writeUIntBE(length, 1, 3)
    bytes.writeUIntBE(offset, 6, 3)
    bytes.writeUIntBE(size, 9, 3)
    return record(22, 0, 1, bytes)
  }
  assert.ok(passes(fragment(300, 100, 50, 50)))
  assert.ok(!passes(fragment(16385, 0, 50, 50)), 'too long a message')
  assert.ok(!passes(fragment(300, 260, 50, 50)), 'past the end of its message')
  assert.ok(!passes(fragment(300, 0, 51, 50)), 'past the end of its record')
  assert.ok(!passes(fragment(300, 0, 40, 50)), 'ten bytes that are no message')
  assert.ok(!passes(fragment(16384, 0, 0, 0)), 'no byte of 16 KB')
  assert.ok(!passes(record(22, 0, 1, Buffer.alloc(0))), 'an empty record')
})

test('malformed records are dropped, in any place of the datagram', () => {
  const wrongVersion = Buffer.from(ENCRYPTED)
  wrongVersion[1] = 3
  const bad = [
    wrongVersion,
    ENCRYPTED.subarray(0, ENCRYPTED.length - 1),
    ENCRYPTED.subarray(0, 12),
    record(19, 1, 1, Buffer.alloc(30)),
    record(24, 1, 1, Buffer.alloc(30)),
    record(22, 2, 1, message(1, 0, Buffer.alloc(30))),
    record(20, 0, 1, Buffer.of(2)),
    record(20, 0, 1, Buffer.of(1, 1)),
  ]
  for (const one of bad) {
    assert.ok(!passes(one), one.toString('hex'))
    assert.ok(!passes(Buffer.concat([CLIENT_HELLO, one])), one.toString('hex'))
  }
  assert.ok(!passes(Buffer.alloc(0)))
})

test('a datagram has at most 2 KB', () => {
  const fits = MAX_DTLS_DATAGRAM - 13
  assert.ok(passes(record(23, 1, 1, Buffer.alloc(fits))))
  assert.ok(!passes(record(23, 1, 1, Buffer.alloc(fits + 1))))
})

test('bounds outside the buffer are refused', () => {
  assert.ok(!acceptable(ENCRYPTED, 0, ENCRYPTED.length + 1, 'server'))
  assert.ok(!acceptable(ENCRYPTED, 10, 5, 'server'))
})
