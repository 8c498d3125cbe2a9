/** What reaches a simulated relay by way of other relays. */

import assert from 'node:assert/strict'
import { type Address, parseCidr, SPP_LENGTH, writeSpp } from '../../../../core/index.ts'
import { fromRelay } from '../../../../plugins/relay/pure/from-relay.ts'
import { at, CLIENT, type Outcome, type SimulatedRelay } from './simulated-relay.ts'

/** Where those relays are. */
const TRUSTED = [parseCidr('10.9.0.0/16')!]

/** Two ports of one of them, and what its clients send to. */
export const GLOBAL = at('10.9.0.1:3500')
export const OTHER_PORT = at('10.9.0.1:3501')
export const VIP = at('203.0.113.99:3478')

/** A client's datagram as such a relay frames it. */
export function framed(payload: Uint8Array, proxy = VIP, client = CLIENT): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
  writeSpp(bytes, 0, at(client), proxy)
  return bytes
}

/** A datagram to the socket for other relays, as it is; fails when it goes to one. */
export function fromHop(relay: SimulatedRelay, bytes: Buffer, hop = GLOBAL): Outcome {
  fromRelay(relay.state, TRUSTED, relay.now, hop, bytes, 0, bytes.length, relay.decision)
  const { reason, count, to, clusters } = relay.decision
  if (reason === undefined) assert.deepEqual(clusters.slice(0, count), Array(count).fill(-1))
  return reason ?? to.slice(0, count).map(String).sort()
}

/** The name that the transceiver was told last. */
export function told(relay: SimulatedRelay): Address {
  return relay.state.hops.nameOf(relay.decision.local).clone()
}
