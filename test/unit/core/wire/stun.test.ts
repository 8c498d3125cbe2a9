import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../core/testing/prng.ts'
import {
  readStun,
  STUN_BINDING_REQUEST,
  STUN_BINDING_SUCCESS,
  StunSummary,
} from '../../../../core/wire/stun.ts'
import { attribute, bindingRequest, stunMessage, USERNAME } from '../../../stun-bytes.ts'

/** RFC 5769 §2.1: a request with SOFTWARE, PRIORITY, ICE-CONTROLLED, USERNAME, MESSAGE-INTEGRITY, FINGERPRINT. */
const REQUEST = Buffer.from(
  '000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff' +
    '80290008932ff9b151263b36000600096576746a3a68367659202020000800149aeaa70cbfd8cb56781ef2b5b2d3f249' +
    'c1b571a280280004e57a3bcf',
  'hex',
)
/** RFC 5769 §2.2: a success response. */
const RESPONSE = Buffer.from(
  '0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a643' +
    '000800142b91f599fd9e90c38c7489f92af9ba53f06be7d780280004c07d4c96',
  'hex',
)

function read(bytes: Buffer): { ok: boolean; found: StunSummary; ufrag: string | undefined } {
  const found = new StunSummary()
  const ok = readStun(bytes, 0, bytes.length, found)
  const { ufragStart, ufragEnd } = found
  return { ok, found, ufrag: ufragStart < 0 ? undefined : bytes.toString('latin1', ufragStart, ufragEnd) }
}

describe('RFC 5769', () => {
  test('the sample request: the receiver ufrag behind three other attributes', () => {
    const { ok, found, ufrag } = read(REQUEST)
    assert.deepEqual([ok, found.type, found.hasUsername, ufrag], [true, STUN_BINDING_REQUEST, true, 'evtj'])
  })
  test('the sample response', () => {
    const { ok, found, ufrag } = read(RESPONSE)
    assert.deepEqual(
      [ok, found.type, found.hasUsername, ufrag],
      [true, STUN_BINDING_SUCCESS, false, undefined],
    )
  })
})

describe('the header', () => {
  test('at an offset within a larger buffer', () => {
    const bytes = Buffer.concat([Buffer.alloc(64, 0xff), REQUEST, Buffer.alloc(64, 0xff)])
    const found = new StunSummary()
    assert.ok(readStun(bytes, 64, 64 + REQUEST.length, found))
    assert.equal(bytes.toString('latin1', found.ufragStart, found.ufragEnd), 'evtj')
  })
  test('every truncation of a message is none', () => {
    for (let length = 0; length < REQUEST.length; length++) {
      assert.equal(read(REQUEST.subarray(0, length)).ok, false, `${length} bytes`)
    }
  })
  test('bytes behind the message make it none', () => {
    assert.equal(read(Buffer.concat([REQUEST, Buffer.alloc(4)])).ok, false)
  })
  test('a wrong cookie, a length that is no multiple of 4, a first byte above 3', () => {
    for (const at of [4, 5, 6, 7]) {
      const wrong = Buffer.from(REQUEST)
      wrong[at]! ^= 1
      assert.equal(read(wrong).ok, false)
    }
    const odd = Buffer.concat([REQUEST, Buffer.alloc(2)])
    odd.writeUInt16BE(odd.length - 20, 2)
    assert.equal(read(odd).ok, false)
    const high = Buffer.from(REQUEST)
    high[0] = 4
    assert.equal(read(high).ok, false)
  })
  test('a bare header is a message', () => {
    assert.deepEqual([read(stunMessage(1, [])).ok, read(stunMessage(1, [])).found.hasUsername], [true, false])
  })
})

describe('the USERNAME', () => {
  test('field report 8: its full length, 513 bytes, and not one more', () => {
    const ufrag = 'u'.repeat(256)
    assert.equal(read(bindingRequest(`${ufrag}:${'c'.repeat(256)}`)).ufrag, ufrag)
    const { ok, found } = read(bindingRequest(`${ufrag}:${'c'.repeat(257)}`))
    assert.deepEqual([ok, found.hasUsername, found.ufragStart], [true, true, -1])
  })
  test('field report 11: attributes in front of it are padded to 4 bytes', () => {
    for (const length of [0, 1, 2, 3, 4, 13, 15]) {
      const bytes = stunMessage(1, [
        attribute(0x8022, Buffer.alloc(length, 0x06)),
        attribute(USERNAME, 'abcd:x'),
      ])
      assert.equal(read(bytes).ufrag, 'abcd', `${length} bytes in front`)
    }
  })
  test('of two the first counts', () => {
    const bytes = stunMessage(1, [attribute(USERNAME, 'first:x'), attribute(USERNAME, 'second:x')])
    assert.equal(read(bytes).ufrag, 'first')
  })
  test('without a colon, or with nothing in front of it, it is not one of ICE', () => {
    for (const name of ['', 'abcd', ':abcd']) {
      const { ok, found } = read(bindingRequest(name))
      assert.deepEqual([ok, found.hasUsername, found.ufragStart, found.ufragEnd], [true, true, -1, -1])
    }
  })
  test('only a Binding request is searched for one', () => {
    assert.equal(read(stunMessage(0x0003, [attribute(USERNAME, 'abcd:x')])).found.hasUsername, false)
  })
  test('an attribute in front of it that runs past the end makes the message none', () => {
    const bytes = stunMessage(1, [attribute(0x8022, 'software'), attribute(USERNAME, 'abcd:x')])
    bytes.writeUInt16BE(0xffff, 22)
    assert.equal(read(bytes).ok, false)
  })
  test('what lies behind it is not looked at', () => {
    const bytes = stunMessage(1, [attribute(USERNAME, 'abcd:x'), attribute(0xc057, Buffer.alloc(900))])
    bytes.writeUInt16BE(0xffff, bytes.length - 902)
    assert.equal(read(bytes).ufrag, 'abcd')
  })
})

test('100,000 random and mutated inputs: no throw, and offsets stay inside', () => {
  const random = new Prng(5769)
  const found = new StunSummary()
  const seeds = [REQUEST, RESPONSE, bindingRequest('abcd:efgh')]
  for (let i = 0; i < 100_000; i++) {
    const bytes = i % 4 === 0 ? Buffer.from(random.bytes(i % 97)) : Buffer.from(seeds[i % seeds.length]!)
    for (let n = i % 5; n > 0 && bytes.length > 0; n--) bytes[random.below(bytes.length)] = random.below(256)
    const start = bytes.length > 0 && i % 7 === 0 ? random.below(bytes.length) : 0
    if (!readStun(bytes, start, bytes.length, found)) continue
    assert.ok(found.ufragStart === -1 ? found.ufragEnd === -1 : found.ufragStart >= start + 24)
    assert.ok(found.ufragEnd < bytes.length)
  }
})
