/** How every decision ends: the tables are whole again, and what became of the datagram is counted. */

import type { Decision } from './decision.ts'
import type { DropReason } from './drop-reasons.ts'
import { type RelayState, settled } from './relay-state.ts'

/** For the way up: the datagram is dropped for `reason`, or without one its `length` bytes of payload go to transceivers. */
export function endUp(
  state: RelayState,
  reason: DropReason | undefined,
  length: number,
  into: Decision,
): void {
  if (isDropped(state, reason, into)) return
  state.counters.up(length)
  state.flows.countUp(into.flow, length)
}

/** The same for the way down, to a client. */
export function endDown(
  state: RelayState,
  reason: DropReason | undefined,
  length: number,
  into: Decision,
): void {
  if (isDropped(state, reason, into)) return
  state.counters.down(length)
  state.flows.countDown(into.flow, length)
}

function isDropped(state: RelayState, reason: DropReason | undefined, into: Decision): boolean {
  settled(state.memory)
  if (reason === undefined) return false
  into.drop(reason)
  state.counters.drops.add(reason)
  return true
}
