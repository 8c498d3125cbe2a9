import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { BAD_UFRAG_MS, GOOD_UFRAG_MS } from '../../../../../plugins/relay/pure/limits.ts'
import type { Ufrag } from '../../../../../plugins/relay/pure/ufrag.ts'
import { UfragTable } from '../../../../../plugins/relay/pure/ufrag-table.ts'
import { at, CLIENT, T1 } from '../simulated-relay.ts'

const CAPACITY = 4
const ROUTE = { cluster: 1, address: at(T1), session: Buffer.alloc(8) }
const client = at(CLIENT)

let table: UfragTable
beforeEach(() => {
  table = new UfragTable(7, CAPACITY)
})

function add(name: string, isGood = true, now = 0): Ufrag {
  const bytes = Buffer.from(name)
  return table.add(
    now,
    bytes,
    0,
    bytes.length,
    isGood ? ROUTE : undefined,
    isGood ? undefined : 'unroutable_ufrag',
  )
}

function find(name: string, now = 0): Ufrag | undefined {
  const bytes = Buffer.from(`x${name}x`)
  return table.find(now, bytes, 1, bytes.length - 1)
}

describe('idle entries', () => {
  test('the one that was not asked for the longest makes room', () => {
    for (const name of ['aaaa', 'bbbb', 'cccc', 'dddd']) add(name)
    assert.ok(find('aaaa'))
    add('eeee')
    assert.deepEqual(
      ['aaaa', 'bbbb', 'eeee'].map((name) => find(name) !== undefined),
      [true, false, true],
    )
    assert.equal(table.idle, CAPACITY)
  })
  test('are forgotten in time, bad ones sooner', () => {
    add('good')
    add('evil', false)
    assert.ok(find('evil', BAD_UFRAG_MS - 1)?.refusal)
    assert.equal(find('evil', BAD_UFRAG_MS), undefined)
    assert.ok(find('good', GOOD_UFRAG_MS - 1)?.route)
    assert.equal(find('good', GOOD_UFRAG_MS), undefined)
    assert.equal(table.idle, 0)
  })
  test('one that was just found can be held though others are let go meanwhile', () => {
    const held = ['aaaa', 'bbbb', 'cccc'].map((name) => add(name))
    for (const entry of held) table.hold(entry, client)
    for (const name of ['dddd', 'eeee', 'ffff', 'gggg']) add(name)
    const found = find('dddd')!
    for (const entry of held) table.release(entry, client)
    table.hold(found, client)
    assert.equal(find('dddd'), found)
    assert.equal(table.idle, CAPACITY - 1)
    table.release(found, client)
    assert.equal(table.idle, CAPACITY)
  })
})

describe('held entries', () => {
  test('are neither forgotten nor recycled, and do not count as idle', () => {
    const held = Array.from({ length: 9 }, (_, i) => {
      const entry = add(`held${i}`)
      table.hold(entry, client)
      return entry
    })
    for (let i = 0; i < 20; i++) add(`idle${i}`)
    for (let i = 0; i < 9; i++) assert.equal(find(`held${i}`, GOOD_UFRAG_MS * 2), held[i])
    for (const entry of held) table.release(entry, client)
    assert.equal(table.idle, CAPACITY)
  })
  test('a recycled entry keeps nothing of what it was', () => {
    const first = add('aaaa')
    for (let i = 0; i < 60; i++) first.spend(0)
    for (const name of ['bbbb', 'cccc', 'dddd', 'eeee']) add(name, false)
    const reused = find('eeee')
    assert.equal(reused, first)
    assert.ok(reused.spend(0))
    assert.deepEqual([reused.route, reused.refusal, reused.holders], [undefined, 'unroutable_ufrag', 0])
  })
})
