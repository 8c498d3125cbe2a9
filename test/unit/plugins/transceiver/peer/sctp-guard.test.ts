import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { sctpChecksum } from '../../../../../plugins/transceiver/peer/sctp-checksum.ts'
import { CHUNK, guardSctp } from '../../../../../plugins/transceiver/peer/sctp-guard.ts'
import { seeded } from './channel-pair.ts'
import { chunk, data, halves, packet, parameter, sealed, words } from './sctp-packets.ts'

const INIT = Buffer.concat([words(7, 100_000), halves(10, 10), words(1)])
const text = Buffer.from('hello')

test('the checksum is CRC32c with its own field as zero (RFC 3720 B.4 vector)', () => {
  // 32 bytes of zero have CRC32c 0x8a9136aa.
  assert.equal(sctpChecksum(Buffer.alloc(32)), 0x8a9136aa)
  const filled = Buffer.alloc(32)
  filled.fill(255, 8, 12)
  assert.equal(sctpChecksum(filled), 0x8a9136aa)
})

test('passes a whole packet untouched', () => {
  for (const good of [
    packet(7, data(1, 0, 0, 51, text)),
    packet(7, data(1, 0, 0, 51, text), data(2, 0, 1, 51, text)),
    packet(0, chunk(CHUNK.init, Buffer.concat([INIT, parameter(0xc000, []), parameter(0x8008, [130, 192])]))),
    packet(7, chunk(CHUNK.sack, Buffer.concat([words(1, 9), halves(2, 1, 2, 3, 5, 5), words(1)]))),
    packet(7, chunk(CHUNK.heartbeat, parameter(1, [1, 2, 3]))),
    packet(7, chunk(CHUNK.abort, [])),
    packet(7, chunk(CHUNK.cookieEcho, Buffer.alloc(24)), data(1, 0, 0, 51, text)),
    packet(7, chunk(CHUNK.reconfig, parameter(13, Buffer.concat([words(1, 2, 3), halves(4)])))),
    packet(7, chunk(CHUNK.forwardTsn, Buffer.concat([words(9), halves(1, 2)]))),
  ]) {
    assert.equal(guardSctp(good), good)
  }
})

test('werift fault 6: drops a chunk length of 0, which loops for ever', () => {
  assert.equal(guardSctp(packet(7, chunk(CHUNK.cookieAck, [], 0, 0))), 'chunk_length')
})

test('werift fault 6, in parameters: drops a parameter length of 0, which loops for ever', () => {
  for (const type of [CHUNK.heartbeat, CHUNK.heartbeatAck, CHUNK.abort, CHUNK.error, CHUNK.reconfig]) {
    assert.equal(guardSctp(packet(7, chunk(type, parameter(1, [], 0)))), 'parameter_length')
  }
  for (const type of [CHUNK.init, CHUNK.initAck]) {
    const bad = packet(0, chunk(type, Buffer.concat([INIT, parameter(1, [], 0)])))
    assert.equal(guardSctp(bad), 'parameter_length')
  }
})

test('werift fault 5: an unknown chunk is cut out, with what follows when its type says so', () => {
  const before = data(1, 0, 0, 51, text)
  const after = data(2, 0, 1, 51, text)
  assert.equal(guardSctp(packet(7, chunk(0x3f, []))), 'unknown_chunk')
  const stop = guardSctp(packet(7, before, chunk(0x3f, [1, 2]), after))
  assert.deepEqual(stop, packet(7, before))
  const skip = guardSctp(packet(7, before, chunk(0x84, [1, 2]), after))
  assert.deepEqual(skip, packet(7, before, after))
})

test('drops what is not whole', () => {
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ['no chunk', packet(7), 'packet_size'],
    ['over 2 KB', packet(7, chunk(CHUNK.cookieEcho, Buffer.alloc(2100))), 'packet_size'],
    ['past the end', packet(7, chunk(CHUNK.cookieEcho, [1], 0, 99)), 'chunk_length'],
    ['DATA without data', packet(7, chunk(CHUNK.data, Buffer.alloc(12))), 'chunk_length'],
    ['short INIT', packet(0, chunk(CHUNK.init, Buffer.alloc(12))), 'chunk_length'],
    ['short SHUTDOWN', packet(7, chunk(CHUNK.shutdown, [])), 'chunk_length'],
    [
      'SACK with fewer gaps than it says',
      packet(7, chunk(CHUNK.sack, Buffer.concat([words(1, 9), halves(500, 0)]))),
      'chunk_length',
    ],
    [
      'SACK with gaps that overlap',
      packet(7, chunk(CHUNK.sack, Buffer.concat([words(1, 9), halves(2, 0, 1, 65535, 1, 65535)]))),
      'chunk_content',
    ],
    [
      'SACK with a gap that ends before its start',
      packet(7, chunk(CHUNK.sack, Buffer.concat([words(1, 9), halves(1, 0, 5, 2)]))),
      'chunk_content',
    ],
    ['INIT in company', packet(0, chunk(CHUNK.init, INIT), chunk(CHUNK.cookieAck, [])), 'chunk_count'],
    ['INIT without a tag', packet(0, chunk(CHUNK.init, Buffer.alloc(16))), 'chunk_content'],
    [
      'reset request without its numbers',
      packet(7, chunk(CHUNK.reconfig, parameter(13, words(1)))),
      'parameter_length',
    ],
    [
      'reset request with half a stream',
      packet(7, chunk(CHUNK.reconfig, parameter(13, [...words(1, 2, 3), 1]))),
      'parameter_length',
    ],
    ['half a stream in FORWARD TSN', packet(7, chunk(CHUNK.forwardTsn, [...words(1), 1, 2])), 'chunk_length'],
    [
      'a hundred HEARTBEATs',
      packet(7, ...Array.from({ length: 100 }, () => chunk(CHUNK.heartbeat, []))),
      'chunk_count',
    ],
  ]
  for (const [what, bad, fault] of cases) assert.equal(guardSctp(bad), fault, what)
  const torn = packet(7, data(1, 0, 0, 51, text))
  torn[20]! ^= 1
  assert.equal(guardSctp(torn), 'checksum')
})

test('what passes, werift can parse: 100,000 mutated packets', () => {
  const require = createRequire(import.meta.url)
  const { parsePacket } = require(
    require.resolve('werift').replace('webrtc/src/index.js', 'sctp/src/chunk.js'),
  )
  const random = seeded(7)
  const seeds = [
    packet(7, data(1, 0, 0, 51, text), data(2, 0, 1, 51, text)),
    packet(0, chunk(CHUNK.init, Buffer.concat([INIT, parameter(0xc000, []), parameter(0x8008, [130, 192])]))),
    packet(7, chunk(CHUNK.sack, Buffer.concat([words(1, 9), halves(2, 1, 2, 3, 5, 5), words(1)]))),
    packet(7, chunk(CHUNK.heartbeat, parameter(1, [1, 2, 3])), chunk(CHUNK.error, parameter(3, [1]))),
    packet(7, chunk(CHUNK.reconfig, parameter(13, Buffer.concat([words(1, 2, 3), halves(4)])))),
    packet(7, chunk(CHUNK.forwardTsn, Buffer.concat([words(9), halves(1, 2)]))),
  ]
  let passed = 0
  for (let i = 0; i < 100_000; i++) {
    const mutated = Buffer.from(seeds[i % seeds.length]!)
    for (let n = 1 + Math.floor(random() * 4); n > 0; n--) {
      mutated[12 + Math.floor(random() * (mutated.length - 12))] = Math.floor(random() * 256)
    }
    const cut = mutated.subarray(0, 12 + Math.floor(random() * (mutated.length - 11)))
    const guarded = guardSctp(sealed(random() < 0.3 ? cut : mutated))
    if (typeof guarded === 'string') continue
    passed++
    parsePacket(guarded)
  }
  assert.ok(passed > 10_000, `${passed} passed`)
})
