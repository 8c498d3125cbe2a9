/** Takes in what the recovery store knew of a client (DESIGN §4): a route that displaces nothing. */

import type { Address, Recovered } from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import { addRecovered, settleRoutes } from './flow-routes.ts'
import type { RelayState } from './relay-state.ts'

/**
 * Opens an unconfirmed flow with a recovered route, or gives one to a flow that has none that carries. True when it
 * did, `into` noting it as `opened`; false when the route is not allowed, another carries already, or there is no
 * free place in the table.
 */
export function recover(
  state: RelayState,
  now: number,
  local: number,
  client: Address,
  found: Recovered,
  into: Decision,
): boolean {
  into.reset()
  if (state.allowed.refusal(found.cluster, found.transceiver) !== undefined) return false
  if (!state.allowed.isClient(client)) return false
  // Read before anything is opened: a store that breaks its contract leaves nothing half done.
  const transceiver = found.transceiver.clone()
  const session = found.session.slice()
  const known = state.flows.find(now, local, client)
  if (known) settleRoutes(now, known, state.ufrags)
  const flow = known ?? state.flows.open(now, local, client, false)
  if (flow === undefined) return false
  const route = addRecovered(now, flow, transceiver, session)
  if (route === undefined) return false
  state.counters.recoveries++
  into.note('opened', flow, route)
  return true
}
