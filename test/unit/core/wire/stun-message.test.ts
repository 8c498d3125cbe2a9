import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { toAddress } from '../../../../core/wire/address.ts'
import { STUN_BINDING_REQUEST, STUN_BINDING_SUCCESS } from '../../../../core/wire/stun.ts'
import { appendFingerprint, IntegrityKey } from '../../../../core/wire/stun-integrity.ts'
import { StunMessage, UNKNOWN_LISTED } from '../../../../core/wire/stun-message.ts'
import {
  STUN_ROOM,
  writeBindingError,
  writeBindingRequest,
  writeBindingSuccess,
} from '../../../../core/wire/stun-writer.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

/** RFC 5769 §2.1 to §2.3, all under one password. */
const PASSWORD = 'VOkJxbRl1RmTxUk/WvJxBt'
const ID = 'b7e7a701bc34d686fa87dfae'
const REQUEST = hex(
  `00010058 2112a442 ${ID} 80220010 5354554e207465737420636c69656e74 00240004 6e0001ff 80290008 932ff9b151263b36
   00060009 6576746a3a68367659202020 00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2 80280004 e57a3bcf`.replaceAll(
    '\n',
    '',
  ),
)
const IPV4_RESPONSE = hex(
  `0101003c 2112a442 ${ID} 8022000b 7465737420766563746f7220 00200008 0001a147e112a643
   00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7 80280004 c07d4c96`.replaceAll('\n', ''),
)
const IPV6_RESPONSE = hex(
  `01010048 2112a442 ${ID} 8022000b 7465737420766563746f7220 00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9
   00080014 a382954e4be67bf11784c97c8292c275bfe3ed41 80280004 c8fb0b4c`.replaceAll('\n', ''),
)
const key = new IntegrityKey(PASSWORD)

/** A message of given attributes, each `[type, value]`, with no integrity unless one is among them. */
function message(type: number, attributes: readonly (readonly [number, Buffer])[]): Buffer {
  const head = Buffer.alloc(20)
  head.writeUInt16BE(type, 0)
  head.writeUInt32BE(0x2112a442, 4)
  hex(ID).copy(head, 8)
  const parts = attributes.map(([kind, value]) => {
    const part = Buffer.alloc(4 + ((value.length + 3) & ~3))
    part.writeUInt16BE(kind, 0)
    part.writeUInt16BE(value.length, 2)
    value.copy(part, 4)
    return part
  })
  const body = Buffer.concat(parts)
  head.writeUInt16BE(body.length, 2)
  return Buffer.concat([head, body])
}

function parsed(bytes: Buffer): StunMessage {
  const found = new StunMessage()
  assert.equal(found.parse(bytes, 0, bytes.length), 'ok')
  return found
}

test('RFC 5769 §2.1: the sample request is read and verified', () => {
  const found = parsed(REQUEST)
  assert.equal(found.type, STUN_BINDING_REQUEST)
  assert.equal(found.priority, 0x6e0001ff)
  assert.ok(found.controlled && !found.controlling && !found.useCandidate)
  assert.ok(found.hasUsername(Buffer.from('evtj:h6vY')))
  assert.ok(!found.hasUsername(Buffer.from('evtj:h6v')))
  assert.ok(!found.hasUsername(Buffer.from('evtj:h6vZ')))
  assert.ok(found.hasIntegrity(key))
  assert.ok(!found.hasIntegrity(new IntegrityKey('another password here..')))
  assert.equal(found.unknownCount, 0)
})

test('RFC 5769 §2.2 and §2.3: the sample responses give their mapped addresses', () => {
  const v4 = parsed(IPV4_RESPONSE)
  assert.equal(v4.type, STUN_BINDING_SUCCESS)
  assert.equal(v4.mapped.toString(), '192.0.2.1:32853')
  assert.ok(v4.hasMapped && v4.hasIntegrity(key))
  const v6 = parsed(IPV6_RESPONSE)
  assert.equal(v6.mapped.toString(), '[2001:db8:1234:5678:11:2233:4455:6677]:32853')
  assert.ok(v6.hasMapped && v6.hasIntegrity(key))
})

test('a message is read where it lies in a larger buffer', () => {
  const bytes = Buffer.concat([Buffer.alloc(7, 0xff), REQUEST, Buffer.alloc(9, 0xff)])
  const found = new StunMessage()
  assert.equal(found.parse(bytes, 7, 7 + REQUEST.length), 'ok')
  assert.ok(found.hasIntegrity(key))
  assert.equal(found.parse(bytes, 6, 7 + REQUEST.length), 'malformed')
  assert.equal(found.parse(bytes, 7, 8 + REQUEST.length), 'malformed')
})

test('one changed bit anywhere is found by fingerprint or integrity', () => {
  const found = new StunMessage()
  for (let bit = 0; bit < REQUEST.length * 8; bit++) {
    // With another type the last attribute is no FINGERPRINT, and what is behind the integrity is ignored.
    if (bit >> 4 === 50) continue
    const bytes = Buffer.from(REQUEST)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    const whole = found.parse(bytes, 0, bytes.length) === 'ok'
    assert.ok(!whole || !found.hasIntegrity(key), `bit ${bit}`)
  }
})

test('a wrong FINGERPRINT is told from a malformed message', () => {
  const bytes = Buffer.from(REQUEST)
  bytes[bytes.length - 1]! ^= 1
  assert.equal(new StunMessage().parse(bytes, 0, bytes.length), 'bad_fingerprint')
})

test('without FINGERPRINT a message is whole; behind one nothing may come', () => {
  assert.equal(parsed(message(1, [])).fingerprintAt, -1)
  const bytes = Buffer.alloc(64)
  message(1, []).copy(bytes)
  const end = appendFingerprint(bytes, 0, 20)
  assert.equal(new StunMessage().parse(bytes, 0, end), 'ok')
  bytes.writeUInt16BE(end - 20 + 4, 2)
  bytes.writeUInt32BE(0x80220000, end)
  assert.equal(new StunMessage().parse(bytes, 0, end + 4), 'malformed')
})

test('attributes behind MESSAGE-INTEGRITY are ignored, but for FINGERPRINT (RFC 8489 §14.5)', () => {
  const bytes = Buffer.alloc(200)
  message(1, [[0x0006, Buffer.from('a:b')]]).copy(bytes)
  const signed = key.sign(bytes, 0, 28)
  const behind = message(1, [
    [0x0025, Buffer.alloc(0)],
    [0x0024, Buffer.from([1, 2, 3, 4])],
    [0x0006, Buffer.from('evil:b')],
    [0x0777, Buffer.alloc(4)],
    [0x001c, Buffer.alloc(32)],
  ]).subarray(20)
  behind.copy(bytes, signed)
  const end = appendFingerprint(bytes, 0, signed + behind.length)
  const found = parsed(bytes.subarray(0, end))
  assert.ok(found.hasIntegrity(key))
  assert.ok(found.hasUsername(Buffer.from('a:b')))
  assert.equal(found.useCandidate, false)
  assert.equal(found.priority, -1)
  assert.equal(found.unknownCount, 0)
  assert.ok(found.fingerprintAt > 0)
})

test('of repeated attributes the first counts', () => {
  const found = parsed(
    message(1, [
      [0x0006, Buffer.from('one:x')],
      [0x0006, Buffer.from('two:x')],
      [0x0024, Buffer.from([0, 0, 0, 1])],
      [0x0024, Buffer.from([0, 0, 0, 2])],
    ]),
  )
  assert.ok(found.hasUsername(Buffer.from('one:x')))
  assert.equal(found.priority, 1)
})

test('unknown attributes that must be comprehended are listed once each, the others not', () => {
  const found = parsed(
    message(1, [
      [0x7f00, Buffer.alloc(0)],
      [0x0003, Buffer.alloc(4)],
      [0x7f00, Buffer.alloc(8)],
      [0xc057, Buffer.alloc(4)],
      [0x0014, Buffer.from('realm')],
    ]),
  )
  assert.deepEqual([...found.unknown.subarray(0, found.unknownCount)], [0x7f00, 0x0003])
})

test('more unknown attributes than fit are cut off', () => {
  const many = Array.from({ length: 40 }, (_, i): [number, Buffer] => [0x7000 + i, Buffer.alloc(0)])
  assert.equal(parsed(message(1, many)).unknownCount, UNKNOWN_LISTED)
})

test('padding counts to four bytes: a 13-byte attribute does not shift the next', () => {
  const found = parsed(
    message(1, [
      [0x8022, Buffer.alloc(13, 0x41)],
      [0x0024, Buffer.from([0, 0, 0, 9])],
    ]),
  )
  assert.equal(found.priority, 9)
})

test('a USERNAME of the full 513 bytes is read', () => {
  const username = Buffer.from(`${'a'.repeat(256)}:${'b'.repeat(256)}`)
  assert.ok(parsed(message(1, [[0x0006, username]])).hasUsername(username))
})

test('values of an impossible length are malformed', () => {
  const wrong: [number, number][] = [
    [0x0008, 16],
    [0x0024, 3],
    [0x0025, 4],
    [0x8028, 8],
    [0x8029, 4],
    [0x802a, 9],
    [0x0020, 12],
    [0x0009, 3],
  ]
  for (const [type, length] of wrong) {
    const bytes = message(1, [[type, Buffer.alloc(length)]])
    assert.equal(new StunMessage().parse(bytes, 0, bytes.length), 'malformed', type.toString(16))
  }
})

test('the integrity key is HMAC-SHA1 for keys shorter, equal and longer than a block', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 150 }), fc.uint8Array({ maxLength: 300 }), (password, tail) => {
      const body = Buffer.from(tail.subarray(0, tail.length & ~3))
      const bytes = Buffer.alloc(20 + body.length + 24)
      message(1, []).copy(bytes)
      body.copy(bytes, 20)
      const at = 20 + body.length
      assert.equal(new IntegrityKey(password).sign(bytes, 0, at), at + 24)
      const mac = createHmac('sha1', password).update(bytes.subarray(0, at)).digest()
      assert.deepEqual(bytes.subarray(at + 4, at + 24), mac)
    }),
  )
})

test('a success response says the client its address, in both families', () => {
  for (const text of ['203.0.113.9', '2001:db8::7']) {
    const client = toAddress(text, 40404)!
    const out = Buffer.alloc(STUN_ROOM, 0xff)
    const end = writeBindingSuccess(out, 5, hex(`0000${ID}`), 2, client, key)
    const found = new StunMessage()
    assert.equal(found.parse(out, 5, end), 'ok')
    assert.equal(found.type, STUN_BINDING_SUCCESS)
    assert.ok(found.hasMapped && found.mapped.equals(client) && found.hasIntegrity(key))
    assert.equal(out.toString('hex', found.transactionAt, found.transactionAt + 12), ID)
  }
})

test('error responses carry their code, and 420 the list (RFC 8489 §14.8, §14.9)', () => {
  const out = Buffer.alloc(STUN_ROOM, 0xff)
  const found = new StunMessage()
  const unknown = Uint16Array.of(0x7f00, 0x0003, 0x0005)
  let end = writeBindingError(out, 0, hex(ID), 0, 420, unknown, 3, key)
  assert.equal(found.parse(out, 0, end), 'ok')
  assert.deepEqual([found.errorCode, found.hasIntegrity(key)], [420, true])
  assert.ok(out.subarray(0, end).includes(hex('000a0006 7f0000030005 0000')))
  end = writeBindingError(out, 0, hex(ID), 0, 487, unknown, 0, key)
  assert.equal(found.parse(out, 0, end), 'ok')
  assert.deepEqual([found.errorCode, found.hasIntegrity(key)], [487, true])
})

test('our own Binding request is one that an ICE agent accepts, at the longest USERNAME too', () => {
  const out = Buffer.alloc(STUN_ROOM, 0xff)
  const username = Buffer.from(`${'t'.repeat(256)}:${'o'.repeat(256)}`)
  const request = { username, priority: 0x6effffff, tieBreaker: Buffer.from('12345678') }
  const end = writeBindingRequest(out, 0, hex(ID), 0, request, key)
  const found = parsed(out.subarray(0, end))
  assert.ok(found.hasUsername(username) && found.hasIntegrity(key) && found.controlled)
  assert.equal(found.priority, 0x6effffff)
  assert.ok(found.fingerprintAt > 0 && !found.useCandidate && found.unknownCount === 0)
})

test('any bytes: never a throw, never a read outside the datagram', () => {
  const found = new StunMessage()
  const samples = [REQUEST, IPV4_RESPONSE, IPV6_RESPONSE]
  const edit = fc.array(fc.tuple(fc.nat(120), fc.nat(255)), { maxLength: 6 })
  fc.assert(
    fc.property(fc.constantFrom(...samples), edit, fc.nat(130), (sample, edits, cut) => {
      const bytes = Buffer.concat([sample, Buffer.alloc(24)])
      for (const [at, value] of edits) bytes[at % bytes.length] = value
      found.parse(bytes, 0, Math.min(cut, bytes.length))
      found.hasIntegrity(key)
    }),
    { numRuns: 5000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (raw) => {
      found.parse(Buffer.from(raw), 0, raw.length)
    }),
    { numRuns: 5000 },
  )
})
