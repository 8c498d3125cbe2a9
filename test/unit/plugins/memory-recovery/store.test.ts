/** The memory store keeps the contract, and what expired leaves by itself. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../../../core/testing/fake-clock.ts'
import { checkRecoveryStore } from '../../../../core/testing/recovery-store.ts'
import { type Address, toAddress } from '../../../../core/wire/address.ts'
import { MemoryStore } from '../../../../plugins/memory-recovery/store.ts'

checkRecoveryStore('memory', () => {
  const clock = new FakeClock()
  return { store: new MemoryStore(20, clock.now), advance: (ms) => clock.advance(ms), capacity: 20 }
})

const ADVERTISED = toAddress('198.51.100.1', 3478)!
const client = (port: number): Address => toAddress('203.0.113.7', port)!
const value = { cluster: 1, transceiver: toAddress('10.0.0.5', 4000)!, session: new Uint8Array(8) }

test('a sweep drops expired entries, at most so many, and no others', () => {
  const clock = new FakeClock()
  const store = new MemoryStore(1000, clock.now)
  for (let i = 1; i <= 100; i++) store.remember(ADVERTISED, client(i), value)
  clock.advance(15_000)
  for (let i = 101; i <= 110; i++) store.remember(ADVERTISED, client(i), value)
  store.remember(ADVERTISED, client(1), value)
  clock.advance(15_000)
  store.sweep(40)
  assert.equal(store.size, 70)
  store.sweep(1000)
  assert.equal(store.size, 11)
})

test('remembering takes expired entries along', () => {
  const clock = new FakeClock()
  const store = new MemoryStore(1000, clock.now)
  for (let i = 1; i <= 16; i++) store.remember(ADVERTISED, client(i), value)
  clock.advance(30_000)
  store.remember(ADVERTISED, client(100), value)
  assert.equal(store.size, 9)
  store.remember(ADVERTISED, client(101), value)
  assert.equal(store.size, 2)
})
