/** Finds where a ufrag leads: remembered, or decoded behind cheap checks and within a budget (DESIGN §2 rule 5). */

import type { Address } from '../../../core/index.ts'
import type { DropReason } from './drop-reasons.ts'
import { MAX_UFRAG, MIN_UFRAG } from './limits.ts'
import type { RelayState } from './relay-state.ts'
import type { Ufrag } from './ufrag.ts'

/**
 * What is known of the ufrag that `state.stun` points at; its `refusal` says why it leads nowhere. A reason alone when
 * it is not worth a decode, or when there is no budget for one.
 */
export function resolveUfrag(
  state: RelayState,
  now: number,
  source: Address,
  bytes: Uint8Array,
): Ufrag | DropReason {
  const { ufragStart: start, ufragEnd: end } = state.stun
  if (!looksEncoded(bytes, start, end)) return 'bad_ufrag'
  const known = state.ufrags.find(now, bytes, start, end)
  if (known !== undefined) return known
  return state.budget.spend(now, source) ? decode(state, now, bytes, start, end) : 'decode_budget'
}

function decode(state: RelayState, now: number, bytes: Uint8Array, start: number, end: number): Ufrag {
  state.counters.decodes++
  const route = state.codec.decode(bytes, start, end, 'ufrag')
  const refusal: DropReason | undefined = route
    ? state.allowed.refusal(route.cluster, route.address)
    : 'unroutable_ufrag'
  return state.ufrags.add(now, bytes, start, end, route, refusal)
}

/** The contract of RoutingCodec: 4 to 96 characters of [a-z0-9]. */
function looksEncoded(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < MIN_UFRAG || end - start > MAX_UFRAG) return false
  for (let i = start; i < end; i++) {
    const c = bytes[i]!
    if (!((c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39))) return false
  }
  return true
}
