/** All that the decisions of one worker rest on, and how much of it there is. */

import { Address, type RoutingCodec, StunSummary } from '../../../core/index.ts'
import { AllowedRoutes, type AllowedRoutesOptions } from './allowed-routes.ts'
import { DecodeBudget } from './decode-budget.ts'
import { DropCounts } from './drop-reasons.ts'
import type { Flow } from './flow.ts'
import { endRoutes } from './flow-routes.ts'
import { FlowTable } from './flow-table.ts'
import { Silence } from './silence.ts'
import { UfragTable } from './ufrag-table.ts'

/** How to make a relay's state. */
export interface RelayOptions extends AllowedRoutesOptions {
  readonly codec: RoutingCodec
  /** The public addresses as clients know them; a flow's `local` is an index of this list. */
  readonly locals: readonly Address[]
  readonly maxFlows: number
  /** A random 32-bit integer, secret. */
  readonly seed: number
  /** Hears of each flow that ends, before its routes do. */
  onFlowEnd?(flow: Flow): void
}

/** What went through and what did not, since the start. */
export interface RelayCounters {
  /** Datagrams and bytes of payload forwarded, a datagram that goes to two transceivers counting once. */
  packetsUp: number
  bytesUp: number
  packetsDown: number
  bytesDown: number
  readonly drops: DropCounts
  decodes: number
  recoveries: number
}

/** The state; `stun`, `client` and `proxy` are scratch of the reading code. */
export interface RelayState {
  readonly codec: RoutingCodec
  readonly locals: readonly Address[]
  readonly allowed: AllowedRoutes
  readonly flows: FlowTable
  readonly ufrags: UfragTable
  readonly budget: DecodeBudget
  readonly counters: RelayCounters
  readonly silence: Silence
  readonly stun: StunSummary
  readonly client: Address
  readonly proxy: Address
}

/** A relay without flows. */
export function relayState(options: RelayOptions): RelayState {
  const { seed, maxFlows } = options
  const ufrags = new UfragTable(seed)
  return {
    codec: options.codec,
    locals: options.locals,
    allowed: new AllowedRoutes(options),
    ufrags,
    flows: new FlowTable({ maxFlows, seed, onEnd: (flow) => endFlow(flow, ufrags, options) }),
    budget: new DecodeBudget(seed),
    counters: noCounts(),
    silence: new Silence(),
    stun: new StunSummary(),
    client: new Address(),
    proxy: new Address(),
  }
}

function endFlow(flow: Flow, ufrags: UfragTable, { onFlowEnd }: RelayOptions): void {
  onFlowEnd?.(flow)
  endRoutes(flow, ufrags)
}

function noCounts(): RelayCounters {
  const drops = new DropCounts()
  return { packetsUp: 0, bytesUp: 0, packetsDown: 0, bytesDown: 0, drops, decodes: 0, recoveries: 0 }
}
