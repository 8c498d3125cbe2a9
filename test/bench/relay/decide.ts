/** What a decision costs that needs a decode: the first packet of a call, and a forged ufrag. In this process, by its clock. */

import { Address, parseAddress, type RoutingCodec } from '../../../core/index.ts'
import { Decision } from '../../../plugins/relay/pure/decision.ts'
import { fromClient } from '../../../plugins/relay/pure/from-client.ts'
import { type RelayState, relayState } from '../../../plugins/relay/pure/relay-state.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import { median } from '../support/statistics.ts'
import { MAX_REQUEST, writeRequest } from './datagrams.ts'
import { LOAD_KEY } from './load-protocol.ts'

/** Packets of a turn: fewer than a relay decodes in a second, of clients in as many networks. */
const PACKETS = 5000

/** Microseconds a packet, medians of the turns. */
export interface DecisionCost {
  readonly first: number
  readonly forged: number
}

interface Packets {
  readonly bytes: Buffer
  readonly lengths: readonly number[]
}

/** Measures both; they take turns. Throws when a decision is not what it must be. */
export function decisionCost(turns: number): DecisionCost {
  const codec = new SealedCodec([LOAD_KEY])
  const state = newState(codec)
  const costs = { first: [] as number[], forged: [] as number[] }
  let now = 1000
  for (let i = -2; i < turns; i++) {
    const valid = packets(() => ufrag(codec))
    const forged = packets(() => forge(ufrag(codec)))
    const first = turn(state, now, valid, undefined)
    const refused = turn(state, now + 2000, forged, 'unroutable_ufrag')
    now += 60_000
    // The first turns warm up.
    if (i < 0) continue
    costs.first.push(first)
    costs.forged.push(refused)
  }
  return { first: median(costs.first), forged: median(costs.forged) }
}

function turn(
  state: RelayState,
  now: number,
  { bytes, lengths }: Packets,
  reason: string | undefined,
): number {
  const decision = new Decision()
  const source = new Address()
  let wrong = 0
  const begin = performance.now()
  for (let i = 0; i < PACKETS; i++) {
    const at = i * MAX_REQUEST
    source.set(0, 0, 0xffff, 0x0b000001 + i * 256, 40_000)
    fromClient(state, now, 0, source, bytes, at, at + lengths[i]!, decision)
    if (decision.reason !== reason) wrong++
  }
  const elapsed = performance.now() - begin
  if (wrong > 0) throw new Error(`${wrong} of ${PACKETS} packets were not ${reason ?? 'forwarded'}`)
  return (elapsed * 1000) / PACKETS
}

function packets(ufrag: () => string): Packets {
  const bytes = Buffer.alloc(PACKETS * MAX_REQUEST)
  const lengths = Array.from({ length: PACKETS }, (_, i) =>
    writeRequest(bytes, i * MAX_REQUEST, `${ufrag()}:load`),
  )
  return { bytes, lengths }
}

function ufrag(codec: RoutingCodec): string {
  const address = parseAddress('10.0.0.1:3479')!
  return codec.encode({ cluster: 1, address, session: Buffer.alloc(8) }, 'ufrag')
}

/** Another character in the midst: whatever is cheap to look at is right. */
function forge(text: string): string {
  const at = text.length >> 1
  return `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`
}

function newState(codec: RoutingCodec): RelayState {
  const locals = [parseAddress('203.0.113.10:3478')!]
  const ports = { first: 3479, last: 3479 }
  return relayState({
    codec,
    locals,
    maxFlows: 65_536,
    seed: 12345,
    cluster: 1,
    cidrs: ['10.0.0.0/8'],
    ports,
    own: locals,
  })
}
