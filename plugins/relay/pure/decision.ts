/** What to do with one datagram. One is made and used again for every datagram. */

import type { Address } from '../../../core/index.ts'
import type { DropReason } from './drop-reasons.ts'
import type { Flow, FlowRoute } from './flow.ts'

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
  /** From a client: to[0, count) are the transceivers it goes to, framed. */
  readonly to: (Address | undefined)[] = [undefined, undefined, undefined, undefined]
  count = 0
  /** From a transceiver: which public socket it leaves by, to which client, and where the payload begins. */
  local = -1
  client: Address | undefined
  payload = -1
  /** What happened to which route of which flow. */
  event: FlowEvent | undefined
  flow: Flow | undefined
  route: FlowRoute | undefined

  /** Forgets the previous datagram. */
  reset(): void {
    this.reason = undefined
    this.wantsLookUp = false
    this.count = 0
    this.local = -1
    this.client = undefined
    this.payload = -1
    this.event = undefined
    this.flow = undefined
    this.route = undefined
  }

  /** The datagram is dropped. */
  drop(reason: DropReason): void {
    this.reason = reason
    this.count = 0
  }

  /** The datagram goes to one more transceiver. */
  add(transceiver: Address): void {
    this.to[this.count++] = transceiver
  }

  /** Notes what happened to a route. */
  note(event: FlowEvent, flow: Flow, route: FlowRoute): void {
    this.event = event
    this.flow = flow
    this.route = route
  }
}
