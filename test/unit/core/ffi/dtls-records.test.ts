import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packRecords } from '../../../../core/ffi/dtls-records.ts'

const record = (length: number) => {
  const bytes = Buffer.alloc(13 + length)
  bytes.writeUInt16BE(length, 11)
  return bytes
}

const sizes = (lengths: number[], mtu: number) => {
  const datagrams: Buffer[] = []
  packRecords(Buffer.concat(lengths.map(record)), mtu, datagrams)
  return datagrams.map((datagram) => datagram.length)
}

test('whole records share a datagram as far as they fit', () => {
  assert.deepEqual(sizes([87, 87, 87], 200), [200, 100])
  assert.deepEqual(sizes([87, 88, 87], 200), [100, 101, 100])
  assert.deepEqual(sizes([], 200), [])
})

test('a record longer than the MTU goes alone', () => {
  assert.deepEqual(sizes([10, 500, 10], 200), [23, 513, 23])
})
