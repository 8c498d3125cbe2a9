import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packetKind } from '../../../../core/wire/demux.ts'

test('every first byte has the kind that RFC 7983 gives it', () => {
  const kinds = Array.from({ length: 256 }, (_, byte) => packetKind(byte))
  const ranges = kinds.flatMap((kind, byte) => (kind === kinds[byte - 1] ? [] : [[byte, kind]]))
  assert.deepEqual(ranges, [
    [0, 'stun'],
    [4, 'unknown'],
    [20, 'dtls'],
    [64, 'unknown'],
    [0x56, 'framing'],
    [0x57, 'unknown'],
    [128, 'media'],
    [192, 'unknown'],
  ])
})

test('media begins above 127 and ends below 192', () => {
  assert.deepEqual([127, 128, 191, 192].map(packetKind), ['unknown', 'media', 'media', 'unknown'])
})

test('no byte at all is unknown', () => {
  assert.equal(packetKind(Number.NaN), 'unknown')
})
