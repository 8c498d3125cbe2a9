/** What to do with one datagram. One is made and used again for every datagram. */

import { Address } from '../../../core/index.ts'
import type { DropReason } from './drop-reasons.ts'
import { ROUTE_OPENED, ROUTE_SESSION, ROUTE_UPSTREAM } from './records.ts'
import type { RouteTable } from './route-table.ts'
import { readSession } from './session-words.ts'

/**
 * What happened to the flow besides: `opened` a route that is new, `confirmed` a route's first success, `refreshed` a
 * later one of which the recovery store should hear.
 */
export type FlowEvent = 'opened' | 'confirmed' | 'refreshed'

/** The outcome for one datagram: dropped for a reason, or sent on. */
export class Decision {
  /** Why it is dropped; undefined when it is forwarded. */
  reason: DropReason | undefined
  /** It belongs to no known route, and the recovery store may know one. */
  wantsLookUp = false
  /** From a client: to[0, count) are the transceivers it goes to, framed; they do not change. */
  readonly to: (Address | undefined)[] = [undefined, undefined, undefined, undefined]
  /** For each of these, the cluster whose relay it is; -1 for a transceiver of ours. */
  readonly clusters = [-1, -1, -1, -1]
  count = 0
  /** From a transceiver or another relay, where the payload begins. */
  payload = -1
  /** From a transceiver or another relay, and with an event: the public socket, or the previous hop, and the client. */
  local = -1
  readonly client = new Address()
  /** What happened to a route, which led or leads to `transceiver`. */
  event: FlowEvent | undefined
  readonly transceiver = new Address()
  readonly session = new Uint8Array(8)
  /** The cluster whose relay `transceiver` is; -1 for a transceiver of ours. */
  cluster = -1
  /** Milliseconds since the route was opened. */
  routeAgeMs = 0
  /** The route is the one of its flow that the recovery store hears of. */
  isIncumbent = false
  /** The flow, as the tables refer to it; 0 for none. */
  flow = 0

  /** Forgets the previous datagram. */
  reset(): void {
    this.reason = undefined
    this.wantsLookUp = false
    this.count = 0
    this.payload = -1
    this.local = -1
    this.event = undefined
    this.flow = 0
  }

  /** The datagram is dropped. */
  drop(reason: DropReason): void {
    this.reason = reason
    this.count = 0
  }

  /** The datagram goes to one more transceiver, or to a cluster's relay. */
  add(transceiver: Address, cluster: number): void {
    this.clusters[this.count] = cluster
    this.to[this.count++] = transceiver
  }

  /** Notes what happened to a route of a client's flow at the public socket number `local`. */
  note(
    event: FlowEvent,
    now: number,
    local: number,
    client: Address,
    route: number,
    routes: RouteTable,
  ): void {
    const { words } = routes
    this.event = event
    this.local = local
    this.client.copy(client)
    routes.upstreams.read(words[route + ROUTE_UPSTREAM]!, this.transceiver)
    this.cluster = routes.cluster(route)
    readSession(words, route + ROUTE_SESSION, this.session)
    this.routeAgeMs = (now - words[route + ROUTE_OPENED]!) >>> 0
    this.isIncumbent = routes.isIncumbent(route)
  }
}
