/** Whether a relay's tables are whole: every list, index and count is derived anew from the records, and compared. */

import assert from 'node:assert/strict'
import type { HashIndex } from '../../../../../plugins/relay/pure/hash-index.ts'
import { CLIENTS_PER_UFRAG, MAX_CARRYING, MAX_PENDING } from '../../../../../plugins/relay/pure/limits.ts'
import type { Pool } from '../../../../../plugins/relay/pure/pool.ts'
import * as record from '../../../../../plugins/relay/pure/records.ts'
import type { RelayState } from '../../../../../plugins/relay/pure/relay-state.ts'

/** Throws when something is not as it should be. */
export function assertWholeTables(state: RelayState): void {
  const { flows, routes, ufrags, upstreams } = state
  const { words } = state.memory
  const isFlow = (at: number): boolean => (words[at + record.FLOW_KEY]! & record.FLOW_STATE) !== 0
  const isRoute = (at: number): boolean => words[at + record.ROUTE_STATE] !== 0
  const isUfrag = (at: number): boolean => words[at + record.UFRAG_STATE] !== 0
  const isUpstream = (at: number): boolean => words[at + record.UPSTREAM_PORT] !== 0

  const all = {
    flows: used(words, flows.pool, record.FLOW_NEXT, isFlow, record.HEADER_FLOW_POOL),
    pooled: used(words, routes.pool, record.ROUTE_NEXT, isRoute, record.HEADER_ROUTE_POOL),
    ufrags: used(words, ufrags.pool, record.UFRAG_NEXT, isUfrag, record.HEADER_UFRAG_POOL),
    upstreams: used(words, upstreams.pool, record.UPSTREAM_NEXT, isUpstream, record.HEADER_UPSTREAM_POOL),
  }
  assertFlows(state, all.flows)
  const chained = assertRoutes(state, all.flows, all.pooled)
  assertUfrags(state, all.ufrags, chained)
  assertUpstreams(state, all.upstreams, [...chained], all.ufrags)
}

/** The records in use; those in the free list are the others, each once. */
function used(
  words: Int32Array,
  pool: Pool,
  next: number,
  isUsed: (at: number) => boolean,
  header: number,
): number[] {
  const free = new Set<number>()
  for (let at = words[header]!; at !== 0; at = words[at + next]!) {
    assert.ok(pool.has(at) && !free.has(at), 'the free list is a list')
    free.add(at)
  }
  const all = Array.from({ length: pool.taken }, (_, i) => pool.at(i))
  const records = all.filter(isUsed)
  assert.equal(records.length + free.size, all.length, 'every record is in use or free')
  assert.ok(records.every((at) => !free.has(at)))
  return records
}

/** The records of a list, which is the same from both ends. */
function listed(words: Int32Array, header: number, older: number, newer: number): number[] {
  const records: number[] = []
  let before = 0
  for (let at = words[header]!; at !== 0; at = words[at + newer]!) {
    assert.equal(words[at + older], before)
    assert.ok(records.length <= words[header + 2]!, 'a list ends')
    records.push(at)
    before = at
  }
  assert.equal(words[header + 1], before, 'its newest')
  assert.equal(words[header + 2], records.length, 'its size')
  return records
}

function assertIndexed(
  words: Int32Array,
  index: HashIndex,
  next: number,
  hashOf: (at: number) => number,
  records: readonly number[],
): void {
  for (const one of records) {
    let found = 0
    for (let at = index.first(hashOf(one)); at !== 0; at = words[at + next]!) if (at === one) found++
    assert.equal(found, 1, 'a record is once in the chain of its hash')
  }
}

function assertSame(actual: readonly number[], expected: readonly number[], what: string): void {
  assert.deepEqual([...actual].sort(), [...expected].sort(), what)
}

function assertFlows({ flows, memory }: RelayState, all: readonly number[]): void {
  const { words } = memory
  const stateOf = (at: number): number => words[at + record.FLOW_KEY]! & record.FLOW_STATE
  for (const [header, state] of [
    [record.HEADER_UNCONFIRMED, record.FLOW_UNCONFIRMED],
    [record.HEADER_CONFIRMED, record.FLOW_CONFIRMED],
  ] as const) {
    const list = listed(words, header, record.FLOW_OLDER, record.FLOW_NEWER)
    assertSame(
      list,
      all.filter((at) => stateOf(at) === state),
      'a list has the flows of its state',
    )
    const until = (at: number): number => words[at + record.FLOW_UNTIL]!
    assert.ok(
      list.every((at, i) => i === 0 || ((until(at) - until(list[i - 1]!)) | 0) >= 0),
      'in order of expiry',
    )
  }
  assertIndexed(words, flows.index, record.FLOW_NEXT, (at) => flows.hashOf(at), all)
  const keys = all.map((at) => `${flows.view(at).local} ${flows.view(at).client}`)
  assert.equal(new Set(keys).size, keys.length, 'a client has one flow at a socket')
}

/** All routes in chains of flows. */
function assertRoutes(
  { routes, memory }: RelayState,
  flows: readonly number[],
  pooled: readonly number[],
): Set<number> {
  const { words } = memory
  const chained = new Set<number>()
  for (const flow of flows) {
    const own: number[] = []
    for (let at = routes.first(flow); at !== 0; at = routes.next(at)) {
      assert.ok(own.length < MAX_CARRYING + MAX_PENDING, 'a flow has few routes')
      assert.equal(words[at + record.ROUTE_FLOW], flow)
      assert.ok(at === flow + record.FLOW_HOME || routes.isPooled(at))
      own.push(at)
      chained.add(at)
    }
    const home = flow + record.FLOW_HOME
    assert.equal(words[home + record.ROUTE_STATE] !== 0, own.includes(home))
    const pending = own.filter((at) => routes.kind(at) === record.ROUTE_PENDING).length
    assert.ok(pending <= MAX_PENDING && own.length - pending <= MAX_CARRYING, 'two pending, two others')
    const live = own.filter((at) => routes.kind(at) === record.ROUTE_LIVE)
    const incumbents = own.filter((at) => routes.isIncumbent(at))
    assert.equal(incumbents.length, live.length > 0 ? 1 : 0, 'one incumbent')
    assert.ok(incumbents.every((at) => live.includes(at)))
    const upstreams = own.map((at) => words[at + record.ROUTE_UPSTREAM])
    assert.equal(new Set(upstreams).size, own.length, 'a route to each transceiver')
  }
  assertSame(
    pooled,
    [...chained].filter((at) => routes.isPooled(at)),
    'routes of the pool are in chains',
  )
  const waiting = listed(words, record.HEADER_WAITING, record.ROUTE_OLDER, record.ROUTE_NEWER)
  assertSame(
    waiting,
    pooled.filter((at) => routes.kind(at) !== record.ROUTE_LIVE),
    'those that wait are listed',
  )
  return chained
}

function assertUfrags(
  { ufrags, routes, memory, flows, upstreams }: RelayState,
  all: readonly number[],
  chained: ReadonlySet<number>,
): void {
  const { words } = memory
  const holders = new Map<number, { holders: Set<number>; clients: Set<string> }>()
  for (const route of chained) {
    for (const place of [0, 1]) {
      const ufrag = routes.ufrag(route, place)
      if (ufrag === 0) continue
      const held = holders.get(ufrag) ?? { holders: new Set(), clients: new Set() }
      held.holders.add(route + place)
      held.clients.add(String(flows.view(words[route + record.ROUTE_FLOW]!).client))
      holders.set(ufrag, held)
      const [leads, to] = [words[ufrag + record.UFRAG_UPSTREAM]!, words[route + record.ROUTE_UPSTREAM]!]
      // The relay of another cluster may be elsewhere since the route was opened.
      const hasMoved = upstreams.clusterOf(to) >= 0 && upstreams.clusterOf(leads) === upstreams.clusterOf(to)
      assert.ok(leads === to || hasMoved, 'a ufrag leads where its route does')
    }
  }
  const listedIdle = listed(words, record.HEADER_IDLE, record.UFRAG_OLDER, record.UFRAG_NEWER)
  assertSame(
    listedIdle,
    all.filter((at) => !holders.has(at)),
    'what nobody holds is idle',
  )
  for (const ufrag of all) {
    const held = holders.get(ufrag)
    assert.equal(ufrags.isHeld(ufrag), held !== undefined)
    assert.equal(ufrags.clientsOf(ufrag), held?.clients.size ?? 0, 'its clients')
    assert.ok(ufrags.clientsOf(ufrag) <= CLIENTS_PER_UFRAG)
    assert.equal(ufrags.refusalOf(ufrag) === undefined, words[ufrag + record.UFRAG_UPSTREAM] !== 0)
    if (!held) continue
    const chain: number[] = []
    let at = words[ufrag + record.UFRAG_HOLDER]!
    while (at !== 0) {
      assert.ok(chain.push(at) <= held.holders.size, 'a chain of holders ends')
      at = words[(at & ~15) + record.ROUTE_HOLDER + (at & 1)]!
    }
    assertSame(chain, [...held.holders], 'its holders')
  }
  assertIndexed(words, ufrags.index, record.UFRAG_NEXT, (at) => words[at]!, all)
}

function assertUpstreams(
  { upstreams, memory }: RelayState,
  all: readonly number[],
  routes: readonly number[],
  ufrags: readonly number[],
): void {
  const { words } = memory
  const references = new Map<number, number>()
  const count = (at: number): void => void (at !== 0 && references.set(at, (references.get(at) ?? 0) + 1))
  for (const route of routes) count(words[route + record.ROUTE_UPSTREAM]!)
  for (const ufrag of ufrags) count(words[ufrag + record.UFRAG_UPSTREAM]!)
  assertSame(all, [...references.keys()], 'transceivers that something leads to')
  for (const at of all) assert.equal(words[at + record.UPSTREAM_REFERENCES], references.get(at))
  assertIndexed(words, upstreams.index, record.UPSTREAM_NEXT, (at) => upstreams.hashOf(at), all)
}
