/** Our records beside node:crypto's, alerts, bounds, and bytes that mean nothing. */

import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { DtlsRecords } from '../../../../../plugins/transceiver/peer/dtls-records.ts'
import { record } from './dtls-pair.ts'

const LOCAL_KEY = Buffer.alloc(16, 1)
const REMOTE_KEY = Buffer.alloc(16, 2)
const LOCAL_SALT = 0x11223344
const REMOTE_SALT = 0xfedcba98
const keys = { localKey: LOCAL_KEY, remoteKey: REMOTE_KEY, localSalt: LOCAL_SALT, remoteSalt: REMOTE_SALT }

const make = (sequence = 5, nonceHigh = 0, nonceLow = 0xffffffff) =>
  new DtlsRecords(keys, { sequence, nonceHigh, nonceLow })

function vector(salt: number, explicit: Uint8Array): Buffer {
  const iv = Buffer.alloc(12)
  iv.writeUInt32BE(salt)
  iv.set(explicit, 4)
  return iv
}

function additional(type: number, epoch: number, sequence: number, length: number): Buffer {
  return Buffer.concat([
    record(0, epoch, sequence, Buffer.alloc(0)).subarray(3, 11),
    Buffer.of(type, 254, 253, length >> 8, length & 255),
  ])
}

/** A record of the peer's, by the words of RFC 5288 and RFC 6347. */
function sealed(type: number, sequence: number, message: Uint8Array, epoch = 1): Buffer {
  const explicit = Buffer.alloc(8, 0x77)
  const cipher = createCipheriv('aes-128-gcm', REMOTE_KEY, vector(REMOTE_SALT, explicit))
  cipher.setAAD(additional(type, epoch, sequence, message.length))
  const body = [explicit, cipher.update(message), cipher.final(), cipher.getAuthTag()]
  return record(type, epoch, sequence, Buffer.concat(body))
}

/** What a record of ours says. */
function opened(datagram: Buffer): { type: number; sequence: number; explicit: bigint; text: string } {
  const sequence = datagram.readUIntBE(5, 6)
  const length = datagram.length - 37
  assert.equal(datagram.readUInt16BE(11), datagram.length - 13)
  assert.equal(datagram.readUInt16BE(1), 0xfefd)
  const explicit = datagram.subarray(13, 21)
  const decipher = createDecipheriv('aes-128-gcm', LOCAL_KEY, vector(LOCAL_SALT, explicit))
  decipher.setAAD(additional(datagram[0]!, 1, sequence, length))
  decipher.setAuthTag(datagram.subarray(-16))
  const text = Buffer.concat([decipher.update(datagram.subarray(21, -16)), decipher.final()])
  return { type: datagram[0]!, sequence, explicit: explicit.readBigUInt64BE(), text: text.toString('latin1') }
}

const take = (records: DtlsRecords, bytes: Buffer) => [records.input(bytes, 0, bytes.length), records.read()]

test('what is written opens with node:crypto, numbers and nonces counted on', () => {
  const records = make()
  assert.ok(records.write(Buffer.from('one')))
  assert.ok(records.write(Buffer.alloc(2011, 0x61)))
  records.shutdown()
  const out = records.takeOutput().map(opened)
  assert.deepEqual(out, [
    { type: 23, sequence: 5, explicit: 0xffffffffn, text: 'one' },
    { type: 23, sequence: 6, explicit: 0x1_0000_0000n, text: 'a'.repeat(2011) },
    { type: 21, sequence: 7, explicit: 0x1_0000_0001n, text: '\x01\x00' },
  ])
  assert.deepEqual(records.takeOutput(), [])
  const wrapping = make(0, 0xffffffff, 0xffffffff)
  wrapping.write(Buffer.from('a'))
  wrapping.write(Buffer.from('b'))
  assert.deepEqual(
    wrapping.takeOutput().map((one) => opened(one).explicit),
    [2n ** 64n - 1n, 0n],
  )
})

test('nothing empty, too long or behind the last number is written', () => {
  const records = make(2 ** 48 - 1)
  assert.equal(records.write(Buffer.alloc(0)), false)
  assert.equal(records.write(Buffer.alloc(2012)), false)
  assert.equal(records.write(Buffer.from('the last')), true)
  assert.equal(records.write(Buffer.from('one too many')), false)
  records.shutdown()
  assert.deepEqual(
    records.takeOutput().map((one) => opened(one).sequence),
    [2 ** 48 - 1],
  )
})

test('what node:crypto seals is read once, from the middle of a buffer that stays as it was', () => {
  const records = make()
  const bytes = Buffer.concat([
    Buffer.alloc(7),
    sealed(23, 2 ** 47 + 1, Buffer.from('hello')),
    Buffer.alloc(7),
  ])
  const before = Buffer.from(bytes)
  assert.equal(records.input(bytes, 7, bytes.length - 7), true)
  assert.deepEqual(records.read(), Buffer.from('hello'))
  assert.equal(records.read(), 'waiting')
  assert.deepEqual(bytes, before)
  assert.deepEqual(take(records, sealed(23, 1, Buffer.alloc(0))), [true, 'waiting'], 'empty is authentic')
})

test('alerts: close_notify ends, a fatal one fails and is named, others are passed over', () => {
  assert.deepEqual(take(make(), sealed(21, 1, Buffer.of(1, 0))), [true, 'closed'])
  assert.deepEqual(take(make(), sealed(21, 1, Buffer.of(2, 0))), [true, 'closed'])
  const records = make()
  for (const odd of [[1, 100], [1, 90], [0, 40], [2], [2, 40, 0], []]) {
    assert.deepEqual(take(records, sealed(21, 1, Buffer.from(odd))), [true, 'waiting'])
  }
  assert.deepEqual(take(records, sealed(21, 1, Buffer.of(2, 40))), [true, 'failed'])
  assert.match(records.reason, /fatal alert 40/)
})

test('other types, other epochs, and records that are not whole are not even tried', () => {
  const records = make()
  for (const type of [0, 20, 22, 24, 25, 255]) {
    assert.deepEqual(take(records, sealed(type, 1, Buffer.from('x'))), [false, 'waiting'])
  }
  for (const epoch of [0, 2, 65535]) {
    assert.deepEqual(take(records, sealed(23, 1, Buffer.from('x'), epoch)), [false, 'waiting'])
  }
  const good = sealed(23, 1, Buffer.from('message'))
  for (const [start, end] of [
    [-1, good.length],
    [0, good.length + 1],
    [0, good.length - 1],
    [1, good.length],
    [good.length, 0],
  ] as const) {
    assert.equal(records.input(good, start, end), false)
    assert.equal(records.read(), 'waiting')
  }
  const huge = sealed(23, 1, Buffer.alloc(16384))
  assert.deepEqual(take(records, huge), [false, 'waiting'])
  assert.deepEqual(take(records, good), [true, Buffer.from('message')])
})

test('once closed nothing is read or written', () => {
  const records = make()
  records.close()
  records.close()
  assert.equal(records.write(Buffer.from('x')), false)
  records.shutdown()
  assert.deepEqual(take(records, sealed(23, 1, Buffer.from('x'))), [false, 'waiting'])
  assert.deepEqual(records.takeOutput(), [])
})

test('any bytes, and genuine records that were changed, bring nothing and break nothing', () => {
  const records = make()
  const genuine = sealed(23, 9, Buffer.from('genuine'))
  const bytes = fc.uint8Array({ maxLength: 2200 }).map((array) => Buffer.from(array))
  const changed = fc
    .array(fc.tuple(fc.nat(genuine.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((edits) => {
      const copy = Buffer.from(genuine)
      for (const [at, value] of edits) copy[at] = value
      return copy
    })
  const dressed = bytes.map((body) => record(23, 1, 3, body))
  fc.assert(
    fc.property(fc.oneof(bytes, changed, dressed), fc.integer({ min: -3, max: 30 }), (datagram, cut) => {
      const whole = datagram.equals(genuine) && cut <= 0
      records.input(datagram, Math.min(cut, 0), datagram.length - Math.max(cut, 0))
      assert.equal(records.input(datagram, 0, datagram.length - Math.max(cut, 0)), whole)
      assert.deepEqual(records.read(), whole ? Buffer.from('genuine') : 'waiting')
    }),
    { numRuns: 3000 },
  )
  assert.deepEqual(take(records, genuine), [true, Buffer.from('genuine')])
})
