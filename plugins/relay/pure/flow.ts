/** A flow: one client address at one of our sockets, the transceivers that answer it, and its counters. */

import type { Address } from '../../../core/index.ts'
import type { Linked } from './linked-list.ts'
import type { Ufrag } from './ufrag.ts'

/**
 * What a route may do. `pending`: hears requests, and only its STUN responses pass down. `recovered`: as the store
 * said; carries everything, but ends soon unless a success confirms it. `live`: had a success; carries everything.
 */
export type RouteState = 'pending' | 'recovered' | 'live'

/** One transceiver of a flow. */
export class FlowRoute {
  state: RouteState
  readonly transceiver: Address
  /** The session whose request came last before the latest success; for spans and the store, never a key. */
  session: Uint8Array
  readonly openedAt: number
  /** When a pending or recovered route ends. */
  until: number
  /** When it became live, and its latest success. */
  liveAt = Number.POSITIVE_INFINITY
  lastSuccess = Number.NEGATIVE_INFINITY
  /** When the recovery store last heard of it. */
  rememberedAt = Number.NEGATIVE_INFINITY
  /** The ufrags it is known by; the one at `latest` made the last request. */
  readonly ufrags: Ufrag[] = []
  latest = 0

  constructor(state: RouteState, transceiver: Address, session: Uint8Array, now: number, until: number) {
    this.state = state
    this.transceiver = transceiver
    this.session = session
    this.openedAt = now
    this.until = until
  }
}

/** A client's flow. Its key is (local, client); the previous hop is always none within one cluster. */
export class Flow implements Linked<Flow> {
  older: Flow | undefined
  newer: Flow | undefined
  /** The next flow of the same bucket. */
  next: Flow | undefined
  readonly hash: number
  /** Which of our public sockets the client sends to. */
  readonly local: number
  readonly client: Address
  readonly openedAt: number
  isConfirmed = false
  /** When it ends, unless a success comes first. */
  until: number
  /** At most two pending ones and two others, in no order. */
  readonly routes: FlowRoute[] = []
  packetsUp = 0
  bytesUp = 0
  packetsDown = 0
  bytesDown = 0

  /** `client` is kept as it is given: pass a clone. */
  constructor(local: number, client: Address, hash: number, now: number, until: number) {
    this.local = local
    this.client = client
    this.hash = hash
    this.openedAt = now
    this.until = until
  }

  /** The route to a transceiver, or undefined. */
  routeTo(transceiver: Address): FlowRoute | undefined {
    for (let i = 0; i < this.routes.length; i++) {
      const route = this.routes[i]!
      if (route.transceiver.equals(transceiver)) return route
    }
    return undefined
  }

  /** How many routes carry media (`pending` false) or wait for their first success (true). */
  count(pending: boolean): number {
    let n = 0
    for (let i = 0; i < this.routes.length; i++) if ((this.routes[i]!.state === 'pending') === pending) n++
    return n
  }

  /** The live route that became so first: the one whose place in the recovery store no other takes. */
  get incumbent(): FlowRoute | undefined {
    let first: FlowRoute | undefined
    for (let i = 0; i < this.routes.length; i++) {
      const route = this.routes[i]!
      if (route.state === 'live' && (first === undefined || route.liveAt < first.liveAt)) first = route
    }
    return first
  }
}
