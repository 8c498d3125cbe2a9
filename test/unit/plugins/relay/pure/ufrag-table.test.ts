import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { BAD_UFRAG_MS, GOOD_UFRAG_MS } from '../../../../../plugins/relay/pure/limits.ts'
import { ROUTE_FLOW, UFRAG_UPSTREAM } from '../../../../../plugins/relay/pure/records.ts'
import { RelayMemory, relayMemory } from '../../../../../plugins/relay/pure/relay-memory.ts'
import { UfragDigest } from '../../../../../plugins/relay/pure/ufrag-digest.ts'
import { UfragTable } from '../../../../../plugins/relay/pure/ufrag-table.ts'
import { Upstreams } from '../../../../../plugins/relay/pure/upstreams.ts'
import { at, T1 } from '../simulated-relay.ts'

const CAPACITY = 4
const SESSION = Buffer.alloc(8)

let memory: RelayMemory
let upstreams: Upstreams
let table: UfragTable
const digest = new UfragDigest(Int32Array.of(1, 2, 3, 4))

beforeEach(() => {
  memory = new RelayMemory(relayMemory(64))
  upstreams = new Upstreams(memory)
  table = new UfragTable(memory, upstreams, CAPACITY)
})

function add(name: string, isGood = true, now = 0): number {
  digest.update(Buffer.from(name), 0, name.length)
  return isGood
    ? table.add(now, digest, upstreams.hold(at(T1)), SESSION, undefined)
    : table.add(now, digest, 0, undefined, 'unroutable_ufrag')
}

function find(name: string, now = 0): number {
  digest.update(Buffer.from(`x${name}x`), 1, name.length + 1)
  return table.find(now, digest)
}

/** A route of a flow of its own, which may hold ufrags. */
function holder(n: number): number {
  const { flows } = memory.layout
  const flow = flows.start + n * flows.stride
  memory.words[flow] = n
  memory.words[flow + 16 + ROUTE_FLOW] = flow
  return flow + 16
}

describe('idle entries', () => {
  test('the one that was not asked for the longest makes room', () => {
    for (const name of ['aaaa', 'bbbb', 'cccc', 'dddd']) add(name)
    assert.ok(find('aaaa'))
    add('eeee')
    assert.deepEqual(
      ['aaaa', 'bbbb', 'eeee'].map((name) => find(name) !== 0),
      [true, false, true],
    )
    assert.equal(table.idle, CAPACITY)
  })
  test('are forgotten in time, bad ones sooner', () => {
    add('good')
    add('evil', false)
    assert.ok(table.refusalOf(find('evil', BAD_UFRAG_MS - 1)))
    assert.equal(find('evil', BAD_UFRAG_MS), 0)
    assert.equal(table.refusalOf(find('good', GOOD_UFRAG_MS - 1)), undefined)
    assert.equal(find('good', GOOD_UFRAG_MS), 0)
    assert.equal(table.idle, 0)
  })
  test('a sweep forgets those whose time is up, in bounded steps', () => {
    for (const name of ['aaaa', 'bbbb', 'cccc']) add(name, false)
    add('good')
    table.sweep(BAD_UFRAG_MS - 1, 9)
    assert.equal(table.idle, 4)
    table.sweep(BAD_UFRAG_MS, 2)
    assert.equal(table.idle, 2)
    table.sweep(BAD_UFRAG_MS, 9)
    assert.equal(table.idle, 1)
  })
  test('one that was just found can be held though others are let go meanwhile', () => {
    const held = ['aaaa', 'bbbb', 'cccc'].map((name) => add(name))
    for (const [n, entry] of held.entries()) table.hold(entry, holder(n))
    for (const name of ['dddd', 'eeee', 'ffff', 'gggg']) add(name)
    const found = find('dddd')
    for (const [n, entry] of held.entries()) table.release(0, entry, holder(n))
    table.hold(found, holder(9))
    assert.equal(find('dddd'), found)
    assert.equal(table.idle, CAPACITY - 1)
    table.release(0, found, holder(9))
    assert.equal(table.idle, CAPACITY)
  })
})

describe('held entries', () => {
  test('are neither forgotten nor recycled, and do not count as idle', () => {
    const held = Array.from({ length: 9 }, (_, n) => {
      const entry = add(`held${n}`)
      table.hold(entry, holder(n))
      return entry
    })
    for (let i = 0; i < 20; i++) add(`idle${i}`)
    for (let n = 0; n < 9; n++) assert.equal(find(`held${n}`, GOOD_UFRAG_MS * 2), held[n])
    for (const [n, entry] of held.entries()) table.release(0, entry, holder(n))
    assert.equal(table.idle, CAPACITY)
  })
  test('a recycled entry keeps nothing of what it was', () => {
    const first = add('aaaa')
    for (let i = 0; i < 60; i++) table.spend(0, first)
    for (const name of ['bbbb', 'cccc', 'dddd', 'eeee']) add(name, false)
    const reused = find('eeee')
    assert.equal(reused, first)
    assert.ok(table.spend(0, reused))
    assert.equal(memory.words[reused + UFRAG_UPSTREAM], 0)
    assert.deepEqual(
      [table.refusalOf(reused), table.isHeld(reused), table.clientsOf(reused)],
      ['unroutable_ufrag', false, 0],
    )
  })
  test('one that a call held for 30 days is forgotten when the call ends', () => {
    const entry = add('aaaa')
    table.hold(entry, holder(1))
    const later = 30 * 86_400_000
    table.release(later | 0, entry, holder(1))
    assert.equal(find('aaaa', later | 0), 0)
  })
  test('a transceiver that no entry leads to any more is forgotten', () => {
    add('aaaa')
    assert.equal(upstreams.pool.taken, 1)
    find('aaaa', GOOD_UFRAG_MS)
    upstreams.hold(at('10.0.0.99:1'))
    assert.equal(upstreams.pool.taken, 1, 'its place was free')
  })
})
