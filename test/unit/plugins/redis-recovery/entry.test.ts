/** Keys tell nothing without the secret, and a value counts only for its flow and under its secret. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Address } from '../../../../core/wire/address.ts'
import { Entries, VALUE_LENGTH } from '../../../../plugins/redis-recovery/entry.ts'
import {
  identityOf,
  routeText,
  transceiverText,
} from '../../../../plugins/redis-recovery/pure/route-bytes.ts'
import { ADVERTISED, at, CLIENT, route, SECRET } from './rig.ts'

const entries = new Entries(SECRET, 'earshot:')
const flow = identityOf(ADVERTISED, CLIENT)
const good = entries.value(flow, routeText(route()))

const anAddress = fc
  .tuple(fc.integer(), fc.integer(), fc.integer(), fc.integer(), fc.integer({ min: 1, max: 65_535 }))
  .map((words) => new Address().set(...words))

test('what is written is read: any addresses, cluster and session', () => {
  fc.assert(
    fc.property(
      anAddress,
      anAddress,
      anAddress,
      fc.integer({ min: 0, max: 65_535 }),
      fc.uint8Array({ minLength: 8, maxLength: 8 }),
      (advertised, client, transceiver, cluster, session) => {
        const identity = identityOf(advertised, client)
        const value = entries.value(identity, routeText({ transceiver, cluster, session }))
        const found = entries.open(identity, value)
        assert.equal(value.length, VALUE_LENGTH)
        assert.ok(found)
        assert.ok(found.transceiver.equals(transceiver))
        assert.equal(found.cluster, cluster)
        assert.deepEqual([...found.session], [...session])
        assert.ok(value.subarray(0, 19).equals(entries.beginning(transceiverText(transceiver))))
      },
    ),
  )
})

test('a key is short text that differs by client, port, advertised address and secret, and names none of them', () => {
  const keys = [
    entries.key(flow),
    entries.key(identityOf(ADVERTISED, at('203.0.113.7:50001'))),
    entries.key(identityOf(at('198.51.100.2:3478'), CLIENT)),
    entries.key(identityOf(CLIENT, ADVERTISED)),
    new Entries('5f'.repeat(32), 'earshot:').key(flow),
  ]
  assert.equal(new Set(keys).size, keys.length)
  for (const key of keys) assert.match(key, /^earshot:[A-Za-z0-9_-]{22}$/)
  assert.equal(new Entries(SECRET.toUpperCase(), 'earshot:').key(flow), keys[0], 'the same in every process')
})

test('poisoned, truncated and foreign values are none: no byte of a value may differ', () => {
  assert.ok(entries.open(flow, good))
  for (let i = 0; i < good.length; i++) {
    for (const bit of [1, 0x80]) {
      const bad = Buffer.from(good)
      bad[i]! ^= bit
      assert.equal(entries.open(flow, bad), undefined, `byte ${i} changed`)
    }
    assert.equal(entries.open(flow, good.subarray(0, i)), undefined, `cut to ${i} bytes`)
  }
  assert.equal(entries.open(flow, Buffer.concat([good, Buffer.of(0)])), undefined, 'a byte more')
})

test('a value of another flow, of another secret or of a later version is none', () => {
  const other = identityOf(ADVERTISED, at('203.0.113.8:50000'))
  assert.equal(entries.open(other, good), undefined, 'copied from another client')
  const swapped = identityOf(CLIENT, ADVERTISED)
  assert.equal(entries.open(swapped, good), undefined)
  assert.equal(new Entries('5f'.repeat(32), 'earshot:').open(flow, good), undefined)
  assert.equal(entries.open(flow, Buffer.concat([Buffer.of(2), good.subarray(1)])), undefined)
})

test('any bytes: a route or none, never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.equal(entries.open(flow, Buffer.from(bytes)), undefined)
    }),
  )
})

test('a transceiver without a port is none', () => {
  assert.equal(entries.open(flow, entries.value(flow, routeText(route('10.0.0.5:0')))), undefined)
})
