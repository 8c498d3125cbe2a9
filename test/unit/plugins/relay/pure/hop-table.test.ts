/** The table of previous hops: what another view of its memory sees, and what is left when its writer died in a change. */

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { HopTable, MAX_HOPS } from '../../../../../plugins/relay/pure/hop-table.ts'
import { at, LOCALS } from '../simulated-relay.ts'

const RELAY = at('10.8.0.1:3500')
const VIP = at('203.0.113.99:3478')

let memory: SharedArrayBuffer
let table: HopTable
beforeEach(() => {
  memory = HopTable.memory()
  table = new HopTable(LOCALS, memory)
})

const nth = (i: number) => at(`10.9.${i >> 8}.${i & 255}:3500`)

/** Pairs until every place is taken. */
function fill(): number[] {
  return Array.from({ length: MAX_HOPS }, (_, i) => table.add(nth(i), VIP))
}

describe('another view of the same memory', () => {
  test('sees every pair under its number and its name, and our own sockets', () => {
    const numbers = [table.add(RELAY, VIP), table.add(RELAY, LOCALS[0]!)]
    const other = new HopTable(LOCALS, memory)
    assert.deepEqual(numbers, [LOCALS.length, LOCALS.length + 1])
    assert.deepEqual([other.find(RELAY, VIP), other.find(RELAY, LOCALS[0]!)], numbers)
    assert.equal(other.find(VIP, RELAY), -1)
    for (const number of numbers) {
      assert.ok(other.relayOf(number).equals(RELAY))
      assert.equal(other.byName(table.nameOf(number)), number)
    }
    assert.ok(other.proxyOf(numbers[0]!).equals(VIP))
    assert.ok(other.placeOf(1).proxy.equals(LOCALS[1]!) && other.nameOf(1).equals(LOCALS[1]!))
  })

  test('sees another pair in a place that is used again, and what it had read stays as it was', () => {
    const [first] = fill()
    const other = new HopTable(LOCALS, memory)
    const before = other.placeOf(first!)
    for (let i = 0; i < MAX_HOPS; i++) table.add(nth(MAX_HOPS + i), LOCALS[0]!)
    assert.equal(table.find(nth(0), VIP), -1)
    assert.ok(other.proxyOf(first!).equals(LOCALS[0]!))
    assert.equal(other.byName(before.name), -1)
    assert.ok(before.proxy.equals(VIP))
  })
})

describe('its writer died in a change', () => {
  test('the index and the counts of flows are made anew', () => {
    const numbers = fill()
    for (const number of numbers) table.began(number)
    new Int32Array(memory).fill(0x5a5a5a5a, (memory.byteLength >> 2) - 8_192)
    const successor = new HopTable(LOCALS, memory)
    const busy = numbers.slice(1, 200)
    successor.repair([0, ...busy, ...busy])
    assert.deepEqual(
      numbers.map((_, i) => successor.find(nth(i), VIP)),
      numbers,
    )
    for (const number of busy) successor.ended(number)
    for (let tries = 0; tries < 4; tries++) successor.add(RELAY, VIP)
    assert.equal(successor.find(RELAY, VIP), numbers[200], 'the first one without flows')
    for (const number of busy) assert.ok(successor.proxyOf(number).equals(VIP))
  })

  test('a pair that was half written is none, and its place is used in time', () => {
    const numbers = fill()
    const words = new Int32Array(memory)
    for (let word = 0; word < words.length; word++) {
      if (words[word] !== RELAY.port) continue
      // The word that says which pair this is comes last.
      words[word + 8] = 0
      break
    }
    const successor = new HopTable(LOCALS, memory)
    successor.repair(numbers.slice(1))
    assert.equal(successor.find(nth(0), VIP), -1)
    for (let tries = 0; tries < MAX_HOPS && successor.find(RELAY, VIP) < 0; tries++) successor.add(RELAY, VIP)
    assert.equal(successor.find(RELAY, VIP), numbers[0])
  })

  test('what it had taken last is as free as the rest', () => {
    new Int32Array(memory)[0] = 1
    const successor = new HopTable(LOCALS, memory)
    successor.repair([])
    assert.equal(successor.add(RELAY, VIP), LOCALS.length + 1)
    assert.equal(successor.find(RELAY, VIP), LOCALS.length + 1)
  })
})
