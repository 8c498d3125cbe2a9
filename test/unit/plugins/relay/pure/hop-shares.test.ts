/** What one relay can do to the others in the table of previous hops, whatever it says. */

import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Address } from '../../../../../core/index.ts'
import { HOP_SHARE } from '../../../../../plugins/relay/pure/hop-shares.ts'
import { HopTable, MAX_HOPS } from '../../../../../plugins/relay/pure/hop-table.ts'
import { at, LOCALS } from '../simulated-relay.ts'

const VIP = at('203.0.113.99:3478')
const HONEST = ['10.9.0.1', '10.9.0.2', '2001:db8:9::1'].map((host) => at(`[${host}]:3500`))

let memory: SharedArrayBuffer
let table: HopTable
beforeEach(() => {
  memory = HopTable.memory()
  table = new HopTable(LOCALS, memory)
})

/** Pairs of a relay that says that its clients send to anything; with flows or without. */
function invent(relay: Address, count: number, hasFlows: boolean): number {
  let taken = 0
  for (let i = 0; i < count; i++) {
    const port = at(`[${relay.host}]:${1024 + i}`)
    const number = table.add(port, at(`192.0.2.${i & 255}:${1 + (i >> 8)}`))
    if (number >= 0) taken++
    if (number >= 0 && hasFlows) table.began(number)
  }
  return taken
}

/** What relays that do not lie have: 16 ports for each of so many addresses. */
function pairsOf(relay: Address, addresses = 4): [Address, Address][] {
  return Array.from({ length: 16 * addresses }, (_, i) => [
    at(`[${relay.host}]:${3500 + (i & 15)}`),
    at(`203.0.113.${i >> 4}:3478`),
  ])
}

describe('a relay that invents what its clients send to', () => {
  for (const host of ['10.9.66.66', '2001:db8:66::1']) {
    test(`has its share, also of flows: ${host}`, () => {
      const liar = at(`[${host}]:9`)
      assert.equal(invent(liar, MAX_HOPS, true), HOP_SHARE)
      for (const relay of HONEST) {
        for (const [port, proxy] of pairsOf(relay)) assert.ok(table.add(port, proxy) >= 0)
      }
      assert.equal(invent(liar, 10, true), 0)
    })

    test(`pushes out its own pairs alone: ${host}`, () => {
      const pairs = HONEST.flatMap((relay) => pairsOf(relay))
      const numbers = pairs.map(([relay, proxy]) => table.add(relay, proxy))
      assert.ok(invent(at(`[${host}]:9`), 2 * MAX_HOPS, false) > MAX_HOPS)
      assert.deepEqual(
        pairs.map(([relay, proxy]) => table.find(relay, proxy)),
        numbers,
      )
    })
  }

  test('has no more under a successor, whether or not the last change was finished', () => {
    const liar = at('10.9.66.66:9')
    invent(liar, HOP_SHARE, true)
    table = new HopTable(LOCALS, memory)
    assert.equal(invent(liar, 10, true), 0)
    table.repair(Array.from({ length: HOP_SHARE }, (_, i) => LOCALS.length + i))
    assert.equal(invent(liar, 10, true), 0)
    table.ended(LOCALS.length + 7)
    for (let tries = 0; tries < HOP_SHARE && table.add(liar, VIP) < 0; tries++);
    assert.equal(table.find(liar, VIP), LOCALS.length + 7, 'the one place of its own without flows')
  })

  test('is one behind all addresses of a /64, and takes nothing from its neighbours', () => {
    for (let i = 0; i < 16; i++) invent(at(`[2001:db8:66::${i + 1}]:9`), HOP_SHARE, true)
    assert.equal(table.taken, HOP_SHARE)
    assert.ok(table.add(at('[2001:db8:66:1::1]:3500'), VIP) >= 0)
  })

  test('is never called as another', () => {
    // Where both parts of a name are hashes of both addresses, this is called as a client of VIP through 10.9.0.1.
    const found = at('[b98b:af50:9232:234b:0:3:0:1]:3478')
    const number = table.add(at('10.9.66.66:3500'), found)
    table.began(number)
    const victim = table.add(at('10.9.0.1:3500'), VIP)
    assert.ok(victim >= 0)
    assert.ok(!table.nameOf(victim).equals(table.nameOf(number)))
  })
})

test('a pair is one also when there have been 2^32 of them', () => {
  new Int32Array(memory)[1] = -1
  const number = table.add(HONEST[0]!, VIP)
  table.began(number)
  table.repair([number])
  assert.equal(table.find(HONEST[0]!, VIP), number)
})
