/**
 * Makes the tables whole after a worker died while it changed them: what records say of themselves is kept, and every
 * list, chain, index and count is made anew from that. A record counts as in use from its last written word on until
 * its first cleared one, so that none is half written. Takes as long as there are records, which is why it is not what
 * every state begins with.
 */

import { IDLE_UFRAGS, UFRAGS_PER_ROUTE } from './limits.ts'
import type { Pool } from './pool.ts'
import {
  FLOW_CONFIRMED,
  FLOW_HOME,
  FLOW_KEY,
  FLOW_ROUTE,
  FLOW_STATE,
  FLOW_UNTIL,
  ROUTE_FLOW,
  ROUTE_IS_INCUMBENT,
  ROUTE_KIND,
  ROUTE_LIVE,
  ROUTE_NEXT,
  ROUTE_STATE,
  ROUTE_UFRAG,
  ROUTE_UNTIL,
  ROUTE_UPSTREAM,
  UFRAG_CLIENTS,
  UFRAG_DIGEST,
  UFRAG_HOLDER,
  UFRAG_IS_HELD,
  UFRAG_IS_USED,
  UFRAG_REFUSAL,
  UFRAG_STATE,
  UFRAG_UNTIL,
  UFRAG_UPSTREAM,
  UPSTREAM_PORT,
  UPSTREAM_REFERENCES,
} from './records.ts'
import type { RelayState } from './relay-state.ts'
import type { Upstreams } from './upstreams.ts'

/** Longer than anything in the tables lives. Milliseconds. */
const HORIZON = 2 ** 24

/** Makes them whole. */
export function repair(state: RelayState): void {
  const { words } = state.memory
  const flows = split(state.flows.pool, (flow) => (words[flow + FLOW_KEY]! & FLOW_STATE) !== 0)
  const ufrags = split(state.ufrags.pool, (ufrag) => isUfrag(state, ufrag))
  for (const ufrag of ufrags.free) words[ufrag + UFRAG_STATE] = 0
  const routes = findRoutes(state, flows)
  chainFlows(state, flows.used)
  state.hops.repair(flows.used.map((flow) => (words[flow + FLOW_KEY]! & 0xffff) >>> 2))
  chainUfrags(state, ufrags.used)
  chainRoutes(state, routes)
  countUpstreams(state, routes, ufrags.used)
  while (state.ufrags.idle > IDLE_UFRAGS) state.ufrags.dropIdle()
}

interface Split {
  readonly used: number[]
  readonly free: number[]
}

/** The records that were ever taken; those that are free are given back anew. */
function split(pool: Pool, isUsed: (record: number) => boolean): Split {
  const parts: Split = { used: [], free: [] }
  pool.forget()
  for (let i = 0; i < pool.taken; i++) {
    const record = pool.at(i)
    const isFree = !isUsed(record)
    parts[isFree ? 'free' : 'used'].push(record)
    if (isFree) pool.give(record)
  }
  return parts
}

/** In use, and leading to a transceiver or refused. */
function isUfrag({ memory: { words }, upstreams }: RelayState, ufrag: number): boolean {
  const state = words[ufrag + UFRAG_STATE]!
  if ((state & UFRAG_IS_USED) === 0) return false
  const upstream = words[ufrag + UFRAG_UPSTREAM]!
  if (state >>> UFRAG_REFUSAL !== 0) return upstream === 0
  return upstreams.pool.has(upstream) && words[upstream + UPSTREAM_PORT] !== 0
}

/** The routes of flows that are; all other places are free. */
function findRoutes(state: RelayState, flows: Split): number[] {
  const { words } = state.memory
  for (const flow of flows.free) words[flow + FLOW_HOME + ROUTE_STATE] = 0
  const isOwn = (route: number, flow: number): boolean => {
    const isGood = words[route + ROUTE_FLOW] === flow && isRoute(state, route)
    if (!isGood) words[route + ROUTE_STATE] = 0
    return isGood
  }
  const homes = flows.used.map((flow) => flow + FLOW_HOME).filter((home) => isOwn(home, home - FLOW_HOME))
  const alive = new Set(flows.used)
  const pooled = split(state.routes.pool, (route) => {
    const flow = words[route + ROUTE_FLOW]!
    return isOwn(route, alive.has(flow) ? flow : -1)
  })
  return [...homes, ...pooled.used]
}

/** In use, leading somewhere, and known by a ufrag unless it was recovered; its ufrags are those that are. */
function isRoute({ memory: { words }, routes, ufrags, upstreams }: RelayState, route: number): boolean {
  const kind = words[route + ROUTE_STATE]! & ROUTE_KIND
  const upstream = words[route + ROUTE_UPSTREAM]!
  if (kind === 0 || !upstreams.pool.has(upstream) || words[upstream + UPSTREAM_PORT] === 0) return false
  const known: number[] = []
  for (let place = 0; place < UFRAGS_PER_ROUTE; place++) {
    const ufrag = routes.ufrag(route, place)
    if (!ufrags.pool.has(ufrag) || words[ufrag + UFRAG_STATE] === 0) continue
    const leads = words[ufrag + UFRAG_UPSTREAM]!
    if ((leads === upstream || areOfOneCluster(upstreams, upstream, leads)) && !known.includes(ufrag))
      known.push(ufrag)
  }
  for (let place = 0; place < UFRAGS_PER_ROUTE; place++)
    words[route + ROUTE_UFRAG + place] = known[place] ?? 0
  if (known.length < UFRAGS_PER_ROUTE) routes.setLatest(route, 0)
  return known.length > 0 || routes.isRecovered(route)
}

/** Whether both are upstreams of one other cluster: its relay has moved, and a ufrag follows it before a route does. */
function areOfOneCluster(upstreams: Upstreams, known: number, other: number): boolean {
  const cluster = upstreams.clusterOf(known)
  return cluster >= 0 && upstreams.pool.has(other) && upstreams.clusterOf(other) === cluster
}

function chainFlows({ flows, memory: { words } }: RelayState, used: readonly number[]): void {
  flows.index.clear()
  flows.unconfirmedList.clear()
  flows.confirmedList.clear()
  for (const flow of byTime(words, used, FLOW_UNTIL)) {
    words[flow + FLOW_ROUTE] = 0
    flows.index.add(flows.hashOf(flow), flow)
    const isConfirmed = (words[flow + FLOW_KEY]! & FLOW_STATE) === FLOW_CONFIRMED
    const list = isConfirmed ? flows.confirmedList : flows.unconfirmedList
    list.push(flow)
  }
}

/** All of them idle: routes hold theirs anew afterwards. */
function chainUfrags({ ufrags, memory: { words } }: RelayState, used: readonly number[]): void {
  ufrags.index.clear()
  ufrags.idleList.clear()
  for (const ufrag of byTime(words, used, UFRAG_UNTIL)) {
    words[ufrag + UFRAG_STATE]! &= ~(UFRAG_IS_HELD | (0xff << UFRAG_CLIENTS))
    words[ufrag + UFRAG_HOLDER] = 0
    ufrags.index.add(words[ufrag + UFRAG_DIGEST]!, ufrag)
    ufrags.idleList.push(ufrag)
  }
}

function chainRoutes({ routes, ufrags, memory: { words } }: RelayState, used: readonly number[]): void {
  routes.waiting.clear()
  for (const route of byTime(words, used, ROUTE_UNTIL)) {
    const flow = words[route + ROUTE_FLOW]!
    const isLive = routes.kind(route) === ROUTE_LIVE
    const first = words[flow + FLOW_ROUTE]!
    words[route + ROUTE_NEXT] = first
    words[flow + FLOW_ROUTE] = route
    if (routes.isPooled(route) && !isLive) routes.waiting.push(route)
    for (let place = 0; place < UFRAGS_PER_ROUTE; place++) {
      const ufrag = routes.ufrag(route, place)
      if (ufrag !== 0) ufrags.hold(ufrag, route + place)
    }
  }
  for (const route of used) settleIncumbent(words, routes, words[route + ROUTE_FLOW]!)
}

/** Of a flow's live routes one is the incumbent: the one that was, or else any. */
function settleIncumbent(words: Int32Array, routes: RelayState['routes'], flow: number): void {
  let incumbent = 0
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (routes.kind(route) !== ROUTE_LIVE) continue
    if (incumbent === 0 || (routes.isIncumbent(route) && !routes.isIncumbent(incumbent))) incumbent = route
  }
  for (let route = routes.first(flow); route !== 0; route = routes.next(route)) {
    if (route === incumbent) words[route + ROUTE_STATE]! |= ROUTE_IS_INCUMBENT
    else words[route + ROUTE_STATE]! &= ~ROUTE_IS_INCUMBENT
  }
}

function countUpstreams(
  { upstreams, memory: { words } }: RelayState,
  routes: readonly number[],
  ufrags: readonly number[],
): void {
  for (let i = 0; i < upstreams.pool.taken; i++) words[upstreams.pool.at(i) + UPSTREAM_REFERENCES] = 0
  for (const route of routes) upstreams.share(words[route + ROUTE_UPSTREAM]!)
  for (const ufrag of ufrags) {
    const upstream = words[ufrag + UFRAG_UPSTREAM]!
    if (upstream !== 0) upstreams.share(upstream)
  }
  upstreams.index.clear()
  const { used, free } = split(upstreams.pool, (at) => words[at + UPSTREAM_REFERENCES] !== 0)
  for (const at of used) upstreams.index.add(upstreams.hashOf(at), at)
  for (const at of free) words[at + UPSTREAM_PORT] = 0
}

/** Records in the order of a time in one of their fields. */
function byTime(words: Int32Array, records: readonly number[], field: number): Iterable<number> {
  const origin = records.length > 0 ? words[records[0]! + field]! : 0
  const clamp = (ms: number): number => Math.max(-HORIZON, Math.min(HORIZON - 1, ms))
  // A time and a reference fit the 53 bits of a number, and numbers are sorted without a comparison of ours.
  const keys = Float64Array.from(
    records,
    (at) => (clamp((words[at + field]! - origin) | 0) + HORIZON) * 2 ** 27 + at,
  )
  return Array.from(keys.sort(), (key) => key % 2 ** 27)
}
