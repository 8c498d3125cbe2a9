/**
 * Decides on a datagram from a client (DESIGN §2 rules 1 to 6): Binding requests follow their USERNAME, other STUN
 * goes to every route of the flow, everything else to the routes that carry. Never throws. Allocates only where a
 * flow or a route is new.
 */

import { type Address, packetKind, readStun, STUN_BINDING_REQUEST } from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import type { DropReason } from './drop-reasons.ts'
import type { Flow, FlowRoute } from './flow.ts'
import { addPending, attachUfrag, settleRoutes } from './flow-routes.ts'
import { MAX_CLIENT_DATAGRAM } from './limits.ts'
import type { RelayState } from './relay-state.ts'
import { resolveUfrag } from './resolve-ufrag.ts'

/** Fills `into` for bytes[start, end), which came from `source` to the public socket number `local`. */
export function fromClient(
  state: RelayState,
  now: number,
  local: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): void {
  into.reset()
  const reason = decide(state, now, local, source, bytes, start, end, into)
  const { counters } = state
  if (reason !== undefined) {
    into.drop(reason)
    counters.drops.add(reason)
    return
  }
  const flow = into.flow!
  counters.packetsUp++
  counters.bytesUp += end - start
  flow.packetsUp++
  flow.bytesUp += end - start
}

function decide(
  state: RelayState,
  now: number,
  local: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): DropReason | undefined {
  if (end <= start) return 'empty'
  if (end - start > MAX_CLIENT_DATAGRAM) return 'oversize'
  const kind = packetKind(bytes[start]!)
  if (kind === 'framing') return 'framing'
  if (kind === 'unknown') return 'unknown_protocol'
  const { stun } = state
  if (kind === 'stun' && !readStun(bytes, start, end, stun)) return 'malformed_stun'
  const isRequest = kind === 'stun' && stun.type === STUN_BINDING_REQUEST
  if (isRequest && stun.hasUsername && stun.ufragStart < 0) return 'bad_ufrag'

  const flow = state.flows.find(now, local, source)
  if (flow) settleRoutes(now, flow, state.ufrags)
  if (isRequest && stun.hasUsername) return byUfrag(state, now, local, source, bytes, flow, into)
  if (flow) {
    into.flow = flow
    addCarrying(flow, into)
    if (kind === 'stun' && !isRequest) addWaiting(now, flow, into)
  }
  if (into.count > 0) return undefined
  into.wantsLookUp = kind !== 'stun'
  return 'no_route'
}

/** Everything that is not a request with a USERNAME goes to the routes that carry. */
function addCarrying(flow: Flow, into: Decision): void {
  for (let i = 0; i < flow.routes.length; i++) {
    const route = flow.routes[i]!
    if (route.state !== 'pending') into.add(route.transceiver)
  }
}

/** STUN other than requests goes to pending routes as well, within the bounds of their ufrags. */
function addWaiting(now: number, flow: Flow, into: Decision): void {
  for (let i = 0; i < flow.routes.length; i++) {
    const route = flow.routes[i]!
    if (route.state === 'pending' && route.ufrags[route.latest]!.spend(now)) into.add(route.transceiver)
  }
}

/** A Binding request with a USERNAME: where it leads has nothing to do with what the flow has so far. */
function byUfrag(
  state: RelayState,
  now: number,
  local: number,
  source: Address,
  bytes: Uint8Array,
  flow: Flow | undefined,
  into: Decision,
): DropReason | undefined {
  if (flow && followKnown(state, now, flow, bytes, into)) return into.count > 0 ? undefined : 'ufrag_rate'
  const ufrag = resolveUfrag(state, now, source, bytes)
  if (typeof ufrag === 'string') return ufrag
  if (ufrag.refusal !== undefined) return ufrag.refusal
  if (!ufrag.admits(source)) return 'ufrag_addresses'
  if (!flow && !state.allowed.isClient(source)) return 'bad_source'
  // Asked for before a flow is opened, so that a flood of one ufrag pushes nobody out of the table.
  const known = flow?.routeTo(ufrag.route!.address)
  if (known?.state !== 'live' && !ufrag.spend(now)) return 'ufrag_rate'
  const home = flow ?? state.flows.open(now, local, source, true)
  if (home === undefined) return 'table_full'
  const route = known ?? addPending(now, home, ufrag, state.ufrags)
  attachUfrag(home, route, ufrag, state.ufrags)
  into.flow = home
  into.add(route.transceiver)
  if (!known) into.note('opened', home, route)
  return undefined
}

/** A ufrag that the flow knows costs a comparison. True when one did, and then it is forwarded unless it was too many. */
function followKnown(state: RelayState, now: number, flow: Flow, bytes: Uint8Array, into: Decision): boolean {
  const { ufragStart, ufragEnd } = state.stun
  for (let i = 0; i < flow.routes.length; i++) {
    const route = flow.routes[i]!
    const at = indexOfUfrag(route, bytes, ufragStart, ufragEnd)
    if (at < 0) continue
    route.latest = at
    into.flow = flow
    if (route.state === 'live' || route.ufrags[at]!.spend(now)) into.add(route.transceiver)
    return true
  }
  return false
}

function indexOfUfrag(route: FlowRoute, bytes: Uint8Array, start: number, end: number): number {
  for (let i = 0; i < route.ufrags.length; i++) if (route.ufrags[i]!.is(bytes, start, end)) return i
  return -1
}
