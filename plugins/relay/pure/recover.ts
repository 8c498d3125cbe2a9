/** Takes in what the recovery store knew of a client: a route that displaces nothing. */

import type { Address, Recovered } from '../../../core/index.ts'
import type { Decision } from './decision.ts'
import { addRecovered, settleRoutes } from './flow-routes.ts'
import { changing, openFlow, type RelayState, settled } from './relay-state.ts'

/**
 * Opens an unconfirmed flow with a recovered route, or gives one to a flow that has none that carries. True when it
 * did, `into` noting it as `opened`; false when the route is not allowed, another carries already, or there is no
 * free place in the tables.
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
  const relay = state.hops.isHop(local) ? undefined : state.clusters.relayOf(found.cluster)
  // A cluster's relay may be elsewhere by now: where it is known to be is what counts.
  const to = relay ?? found.transceiver
  if (relay === undefined && state.allowed.refusal(found.cluster, to) !== undefined) return false
  if (relay !== undefined && state.allowed.isOwn(relay)) return false
  if (!state.allowed.isClient(client)) return false
  // Read before anything is opened: a store that breaks its contract leaves nothing half done.
  const transceiver = to.clone()
  const session = found.session.slice()
  changing(state.memory)
  const isTaken = take(state, now | 0, local, client, transceiver, session, relay ? found.cluster : -1, into)
  settled(state.memory)
  return isTaken
}

function take(
  state: RelayState,
  now: number,
  local: number,
  client: Address,
  transceiver: Address,
  session: Uint8Array,
  cluster: number,
  into: Decision,
): boolean {
  const { flows, routes, counters } = state
  const known = flows.find(now, local, client)
  if (known !== 0) settleRoutes(now, known, routes)
  const flow = known || openFlow(state, now, local, client, false)
  if (flow === 0) return false
  const route = addRecovered(now, flow, transceiver, session, cluster, routes)
  if (route === 0) return false
  counters.recovered()
  into.flow = flow
  into.note('opened', now, local, client, route, routes)
  return true
}
