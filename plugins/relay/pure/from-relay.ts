/**
 * Decides on a framed datagram from another relay. It must come from a listed relay and carry a route of our
 * own cluster: what came from a relay never goes to one, so no loop can exist. All other rules are those for datagrams
 * that come from clients themselves. Never throws.
 */

import { type Address, type Cidr, inCidrs } from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import type { DropReason } from './drop-reasons.ts'
import { decideOnClient } from './from-client.ts'
import { endUp } from './outcome.ts'
import { changing, type RelayState } from './relay-state.ts'

/**
 * Fills `into` for bytes[start, end), which came from `source` to the socket for other relays: the payload's start, the
 * client, and as `local` the number of the hop.
 */
export function fromRelay(
  state: RelayState,
  relays: readonly Cidr[],
  now: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): void {
  into.reset()
  const reason = decide(state, relays, now | 0, source, bytes, start, end, into)
  endUp(state, reason, end - into.payload, into)
}

function decide(
  state: RelayState,
  relays: readonly Cidr[],
  now: number,
  source: Address,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Decision,
): DropReason | undefined {
  if (!inCidrs(relays, source)) return 'untrusted_relay'
  const { client, proxy, answering } = state
  const fault = answering.read(bytes, start, end, client, proxy)
  if (fault !== undefined) return fault
  if (!state.allowed.isClient(client)) return 'bad_source'
  const known = state.hops.find(source, proxy)
  // Not from us: what is answered would come back to us, as a client's.
  if (known < 0 && state.allowed.isOwn(source)) return 'untrusted_relay'
  const local = known < 0 ? addHop(state, source, proxy) : known
  if (local < 0) return 'table_full'
  const payload = start + answering.length
  into.local = local
  into.client.copy(client)
  into.payload = payload
  return decideOnClient(state, now, local, into.client, bytes, payload, end, into)
}

/** The number of a previous hop that is new, -1 when there is no place for one more. */
function addHop({ hops, memory }: RelayState, relay: Address, proxy: Address): number {
  changing(memory)
  return hops.add(relay, proxy)
}
