import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DCEP_ACK, readDcep, writeDcepOpen } from '../../../../../plugins/transceiver/peer/dcep.ts'

test('werift fault 18: the label length counts bytes, not characters', () => {
  for (const label of ['', 'oai-events', 'événements', '频道 🎙️']) {
    const message = writeDcepOpen(label)
    assert.equal(message.readUInt16BE(8), Buffer.byteLength(label))
    assert.deepEqual(readDcep(message), { type: 'open', label })
  }
})

test('reads an ACK', () => {
  assert.deepEqual(readDcep(DCEP_ACK), { type: 'ack' })
})

test('the protocol behind the label is no part of it', () => {
  const message = Buffer.concat([writeDcepOpen('ab'), Buffer.from('xyz')])
  message.writeUInt16BE(3, 10)
  assert.deepEqual(readDcep(message), { type: 'open', label: 'ab' })
})

test('an ACK may be padded to four bytes, as Pion does', () => {
  assert.deepEqual(readDcep(Buffer.of(2, 0, 0, 0)), { type: 'ack' })
  assert.equal(readDcep(Buffer.of(2, 0, 0, 1)), undefined)
})

test('what is neither, or not whole, is nothing', () => {
  const long = writeDcepOpen('ab')
  long.writeUInt16BE(3, 8)
  for (const bad of [Buffer.of(), Buffer.of(3), Buffer.of(2, 0), Buffer.of(1), Buffer.alloc(12), long]) {
    assert.equal(readDcep(bad), undefined)
  }
})
