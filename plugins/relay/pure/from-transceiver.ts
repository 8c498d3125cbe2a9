/**
 * Decides on a framed datagram from the internal socket (DESIGN §2 rules 3 and 4): only a flow's own transceivers are
 * heard, and a pending one only with STUN responses; a success response is what makes a route live. Never throws,
 * never allocates.
 */

import {
  type Address,
  packetKind,
  readSpp,
  readStun,
  SPP_LENGTH,
  STUN_BINDING_ERROR,
  STUN_BINDING_SUCCESS,
} from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import type { DropReason } from './drop-reasons.ts'
import type { Flow, FlowRoute } from './flow.ts'
import { settleRoutes, succeed } from './flow-routes.ts'
import { REMEMBER_MS } from './limits.ts'
import type { RelayState } from './relay-state.ts'

/** Fills `into` for bytes[start, end), which came from `source` to the internal socket. */
export function fromTransceiver(
  state: RelayState,
  now: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): void {
  into.reset()
  const reason = decide(state, now, source, bytes, start, end, into)
  const { counters } = state
  if (reason !== undefined) {
    into.drop(reason)
    counters.drops.add(reason)
    return
  }
  const flow = into.flow!
  const length = end - into.payload
  counters.packetsDown++
  counters.bytesDown += length
  flow.packetsDown++
  flow.bytesDown += length
}

function decide(
  state: RelayState,
  now: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): DropReason | undefined {
  const { client, proxy } = state
  if (!readSpp(bytes, start, end, client, proxy)) return 'bad_frame'
  const local = indexOf(state.locals, proxy)
  if (local < 0) return 'unknown_proxy'
  const flow = state.flows.find(now, local, client)
  if (flow === undefined) return 'no_flow'
  settleRoutes(now, flow, state.ufrags)
  const route = flow.routeTo(source)
  if (route === undefined) return 'not_own_transceiver'
  const payload = start + SPP_LENGTH
  if (payload >= end) return 'empty'
  const kind = packetKind(bytes[payload]!)
  if (kind === 'stun') {
    if (!readStun(bytes, payload, end, state.stun)) return 'malformed_stun'
    if (!mayAnswer(state.stun.type, route)) return 'pending_downstream'
    if (state.stun.type === STUN_BINDING_SUCCESS) hearSuccess(state, now, flow, route, into)
  } else if (kind !== 'dtls' && kind !== 'media') return 'unknown_protocol'
  else if (route.state === 'pending') return 'pending_downstream'
  into.flow = flow
  into.local = local
  into.client = flow.client
  into.payload = payload
  into.count = 1
  return undefined
}

/** Of a pending route only the responses to its client's requests pass. */
function mayAnswer(type: number, route: FlowRoute): boolean {
  return route.state !== 'pending' || type === STUN_BINDING_SUCCESS || type === STUN_BINDING_ERROR
}

function hearSuccess(state: RelayState, now: number, flow: Flow, route: FlowRoute, into: Decision): void {
  const isNew = succeed(now, flow, route, state.ufrags)
  if (route.state !== 'live') return
  state.flows.confirm(now, flow)
  if (isNew) into.note('confirmed', flow, route)
  else if (now - route.rememberedAt >= REMEMBER_MS) into.note('refreshed', flow, route)
}

function indexOf(locals: readonly Address[], address: Address): number {
  for (let i = 0; i < locals.length; i++) if (locals[i]!.equals(address)) return i
  return -1
}
