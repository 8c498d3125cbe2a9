/**
 * Who holds a ufrag: a chain through the routes that do. A holder is a route's reference plus which of its two ufrags
 * it is. A ufrag has few: at most eight clients, each at no more than all of our sockets.
 */

import type { Address } from '../../../core/index.ts'
import {
  FLOW_KEY,
  FLOW_W0,
  FLOW_W1,
  FLOW_W2,
  FLOW_W3,
  ROUTE_FLOW,
  ROUTE_HOLDER,
  ROUTE_WORDS,
} from './records.ts'

/** The word that leads from a holder to the next. */
export function holderLink(holder: number): number {
  return (holder & ~(ROUTE_WORDS - 1)) + ROUTE_HOLDER + (holder & 1)
}

/** The flow of a holder. */
export function flowOfHolder(words: Int32Array, holder: number): number {
  return words[(holder & ~(ROUTE_WORDS - 1)) + ROUTE_FLOW]!
}

/** Whether one of the holders from `holder` on is of the same client as `flow`, maybe at another of our sockets. */
export function hasClientOf(words: Int32Array, holder: number, flow: number): boolean {
  for (let at = holder; at !== 0; at = words[holderLink(at)]!) {
    if (isSameClient(words, flowOfHolder(words, at), words, flow)) return true
  }
  return false
}

/** Whether one of the holders from `holder` on is of this client. */
export function hasClient(words: Int32Array, holder: number, client: Address): boolean {
  for (let at = holder; at !== 0; at = words[holderLink(at)]!) {
    if (isClient(words, flowOfHolder(words, at), client)) return true
  }
  return false
}

/** Whether a flow's client has this address. */
export function isClient(words: Int32Array, flow: number, client: Address): boolean {
  return (
    words[flow + FLOW_W3] === client.w3 &&
    words[flow + FLOW_KEY]! >>> 16 === client.port &&
    words[flow + FLOW_W2] === client.w2 &&
    words[flow + FLOW_W1] === client.w1 &&
    words[flow + FLOW_W0] === client.w0
  )
}

/** Whether two flows are of one client, maybe at two of our sockets and in two workers' memories. */
export function isSameClient(words: Int32Array, flow: number, others: Int32Array, other: number): boolean {
  if (words[flow + FLOW_KEY]! >>> 16 !== others[other + FLOW_KEY]! >>> 16) return false
  for (let i = FLOW_W0; i <= FLOW_W3; i++) if (words[flow + i] !== others[other + i]) return false
  return true
}
