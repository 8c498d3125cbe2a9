import assert from 'node:assert/strict'
import { test } from 'node:test'
import { positionAfter, SentRecords } from '../../../../../plugins/transceiver/peer/dtls-sent.ts'
import { record } from './dtls-pair.ts'

/** An encrypted record with this number and explicit nonce. */
function sealed(sequence: number, nonce: bigint, epoch = 1): Buffer {
  const body = Buffer.alloc(40)
  body.writeBigUInt64BE(nonce)
  return record(23, epoch, sequence, body)
}

const clear = record(22, 0, 3, Buffer.alloc(30))

test('the position is behind the last record, over the end of the nonce’s 32 and 64 bits', () => {
  for (const first of [0n, 0x1_ffff_fffen, 0xffff_ffff_ffff_fffen, 0x7fff_ffff_ffff_ffffn]) {
    const sent = new SentRecords()
    assert.equal(sent.next, undefined)
    sent.note(clear)
    assert.equal(sent.next, undefined)
    sent.note(Buffer.concat([clear, sealed(0, first), sealed(1, BigInt.asUintN(64, first + 1n))]))
    sent.note(sealed(2, BigInt.asUintN(64, first + 2n)))
    const next = BigInt.asUintN(64, first + 3n)
    assert.deepEqual(sent.next, {
      sequence: 3,
      nonceHigh: Number(next >> 32n),
      nonceLow: Number(next & 0xffff_ffffn),
    })
  }
  assert.deepEqual(positionAfter(7, 0xffffffff, 0xffffffff), { sequence: 8, nonceHigh: 0, nonceLow: 0 })
})

for (const [name, odd] of [
  ['a nonce that was not counted up', sealed(2, 99n)],
  ['a nonce that came before', sealed(2, 11n)],
  ['a number left out', sealed(3, 12n)],
  ['a number that came before', sealed(1, 12n)],
  ['another epoch', sealed(2, 12n, 2)],
] as const) {
  test(`${name} leaves no position, for good`, () => {
    const sent = new SentRecords()
    sent.note(Buffer.concat([sealed(0, 10n), sealed(1, 11n)]))
    sent.note(odd)
    assert.equal(sent.next, undefined)
    sent.note(sealed(2, 12n))
    sent.note(sealed(0, 12n))
    assert.equal(sent.next, undefined)
  })
}

test('records have to be followed from the first', () => {
  const sent = new SentRecords()
  sent.note(sealed(1, 10n))
  assert.equal(sent.next, undefined)
})
