/**
 * Decides on a framed datagram from the internal socket: only a flow's own transceivers are
 * heard, and a pending one only with STUN responses; a success response is what makes a route live. Never throws,
 * never allocates.
 */

import {
  type Address,
  packetKind,
  readStun,
  STUN_BINDING_ERROR,
  STUN_BINDING_SUCCESS,
} from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import type { DropReason } from './drop-reasons.ts'
import { isDue, settleRoutes, succeed } from './flow-routes.ts'
import { endDown } from './outcome.ts'
import { ROUTE_LIVE, ROUTE_PENDING } from './records.ts'
import { changing, type RelayState } from './relay-state.ts'

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
  const reason = decide(state, now | 0, source, bytes, start, end, into)
  endDown(state, reason, end - into.payload, into)
}

/** Fills `into` for bytes[start, end), which came bare from `source` to the socket of a client's flow. */
export function fromServer(
  state: RelayState,
  now: number,
  local: number,
  client: Address,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): void {
  into.reset()
  const reason = decideOnAnswer(state, now | 0, local, client, source, bytes, start, end, into)
  endDown(state, reason, end - into.payload, into)
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
  const { client, proxy, framing } = state
  const fault = framing.read(bytes, start, end, client, proxy)
  if (fault !== undefined) return fault
  const known = indexOf(state.locals, proxy)
  const local = known < 0 ? state.hops.byName(proxy) : known
  if (local < 0) return 'unknown_proxy'
  return decideOnAnswer(state, now, local, client, source, bytes, start + framing.length, end, into)
}

/** The same for what is for a client at a public socket, or at a hop: bytes[payload, end). */
function decideOnAnswer(
  state: RelayState,
  now: number,
  local: number,
  client: Address,
  source: Address,
  bytes: Uint8Array,
  payload: number,
  end: number,
  into: Decision,
): DropReason | undefined {
  const { routes } = state
  const flow = state.flows.find(now, local, client)
  if (flow === 0) return 'no_flow'
  settleRoutes(now, flow, routes)
  const route = routes.to(flow, source)
  if (route === 0) return 'not_own_transceiver'
  if (payload >= end) return 'empty'
  const kind = packetKind(bytes[payload]!)
  into.flow = flow
  into.local = local
  if (kind === 'stun') {
    if (!readStun(bytes, payload, end, state.stun)) return 'malformed_stun'
    if (!mayAnswer(state.stun.type, routes.kind(route))) return 'pending_downstream'
    if (state.stun.type === STUN_BINDING_SUCCESS) hearSuccess(state, now, route, client, into)
  } else if (kind !== 'dtls' && kind !== 'media') return 'unknown_protocol'
  else if (routes.kind(route) === ROUTE_PENDING) return 'pending_downstream'
  into.client.copy(client)
  into.payload = payload
  into.count = 1
  return undefined
}

/** Of a pending route only the responses to its client's requests pass. */
function mayAnswer(type: number, kind: number): boolean {
  return kind !== ROUTE_PENDING || type === STUN_BINDING_SUCCESS || type === STUN_BINDING_ERROR
}

function hearSuccess(state: RelayState, now: number, route: number, client: Address, into: Decision): void {
  const { routes } = state
  changing(state.memory)
  const isNew = succeed(now, into.flow, route, routes)
  if (routes.kind(route) !== ROUTE_LIVE) return
  state.flows.confirm(now, into.flow)
  const due = isDue(now, route, routes)
  if (isNew) into.note('confirmed', now, into.local, client, route, routes)
  else if (due) into.note('refreshed', now, into.local, client, route, routes)
}

function indexOf(locals: readonly Address[], address: Address): number {
  for (let i = 0; i < locals.length; i++) if (locals[i]!.equals(address)) return i
  return -1
}
