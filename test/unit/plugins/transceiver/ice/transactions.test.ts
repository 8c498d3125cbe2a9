import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REMEMBERED, Transactions } from '../../../../../plugins/transceiver/ice/transactions.ts'
import { address } from './support.ts'

const HOME = address('203.0.113.5:40000')
const AWAY = address('192.0.2.66:6666')

function id(n: number): Buffer {
  const bytes = Buffer.alloc(15)
  bytes.writeUInt32BE(n, 3)
  bytes.writeUInt32BE(n, 11)
  return bytes
}

test('an id is fresh once, repeated from its client, and elsewhere from another', () => {
  const transactions = new Transactions()
  assert.equal(transactions.look(id(0), 3, HOME), 'fresh')
  transactions.record(id(0), 3, HOME)
  assert.equal(transactions.look(id(0), 3, HOME), 'repeated')
  assert.equal(transactions.look(id(0), 3, AWAY), 'elsewhere')
  transactions.record(id(0), 3, AWAY)
  assert.equal(transactions.look(id(0), 3, AWAY), 'repeated')
  assert.equal(transactions.look(id(1), 3, HOME), 'fresh')
})

test('the last 256 are remembered', () => {
  const transactions = new Transactions()
  for (let n = 0; n <= REMEMBERED; n++) transactions.record(id(n), 3, HOME)
  assert.equal(transactions.look(id(0), 3, HOME), 'fresh')
  for (let n = 1; n <= REMEMBERED; n++) assert.equal(transactions.look(id(n), 3, HOME), 'repeated')
})

test('each of the 12 bytes counts', () => {
  const transactions = new Transactions()
  transactions.record(id(7), 3, HOME)
  for (let at = 3; at < 15; at++) {
    const other = id(7)
    other[at]! ^= 0x80
    assert.equal(transactions.look(other, 3, HOME), 'fresh')
  }
})
