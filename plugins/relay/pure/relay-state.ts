/** All that the decisions of one worker rest on, and how much of it there is. */

import {
  Address,
  EdgeError,
  type Framing,
  plainFraming,
  type RoutingCodec,
  StunSummary,
} from '../../../core/index.ts'
import { AllowedRoutes, type AllowedRoutesOptions } from './allowed-routes.ts'
import { DecodeBudget } from './decode-budget.ts'
import { FlowTable } from './flow-table.ts'
import type { FlowView } from './flow-view.ts'
import { HEADER_IS_CHANGING, MAX_LOCALS } from './records.ts'
import { RelayCounters } from './relay-counters.ts'
import { RelayMemory, relayMemory } from './relay-memory.ts'
import { RouteTable } from './route-table.ts'
import { Silence } from './silence.ts'
import { UfragDigest } from './ufrag-digest.ts'
import { UfragTable } from './ufrag-table.ts'
import { Upstreams } from './upstreams.ts'

/** How to make a relay's state. */
export interface RelayOptions extends AllowedRoutesOptions {
  readonly codec: RoutingCodec
  /** What stands in front of datagrams to and from transceivers. Default: the header without a tag. */
  readonly framing?: Framing
  /** The public addresses as clients know them; a flow's `local` is an index of this list. */
  readonly locals: readonly Address[]
  readonly maxFlows: number
  /** A random integer below 2^48, secret. The first state of a memory gives it; later ones go on with that. */
  readonly seed: number
  /** Hears of each flow that ends, before its routes do; the view is used again. */
  readonly onFlowEnd?: (flow: FlowView) => void
}

/** The state; `stun`, `digest`, `client` and `proxy` are scratch of the reading code. */
export interface RelayState {
  readonly codec: RoutingCodec
  readonly framing: Framing
  readonly locals: readonly Address[]
  readonly allowed: AllowedRoutes
  readonly memory: RelayMemory
  readonly flows: FlowTable
  readonly routes: RouteTable
  readonly ufrags: UfragTable
  readonly upstreams: Upstreams
  readonly budget: DecodeBudget
  readonly counters: RelayCounters
  readonly silence: Silence
  readonly digest: UfragDigest
  readonly stun: StunSummary
  readonly client: Address
  readonly proxy: Address
}

/**
 * The state of a relay in `memory`: one without flows in new memory, and in memory that another state has written to
 * one that goes on where that stopped, with the same `locals`. One thread at a time may decide by it; others may look at
 * counters and flows. Throws EdgeError when the memory is not for so many flows.
 */
export function relayState(options: RelayOptions, buffer = relayMemory(options.maxFlows)): RelayState {
  const memory = new RelayMemory(buffer)
  if (memory.maxFlows !== options.maxFlows || options.locals.length > MAX_LOCALS) {
    throw new EdgeError(
      'internal',
      `this memory is for ${memory.maxFlows} flows and ${MAX_LOCALS} sockets, not ${options.maxFlows} and ${options.locals.length}`,
    )
  }
  memory.plant(options.seed)
  const counters = new RelayCounters(memory)
  const upstreams = new Upstreams(memory)
  const ufrags = new UfragTable(memory, upstreams)
  const routes = new RouteTable(memory, ufrags, upstreams)
  return {
    codec: options.codec,
    framing: options.framing ?? plainFraming,
    locals: options.locals,
    allowed: new AllowedRoutes(options),
    memory,
    upstreams,
    ufrags,
    routes,
    flows: new FlowTable(memory, routes, { counters, onEnd: options.onFlowEnd }),
    budget: new DecodeBudget(memory),
    counters,
    silence: new Silence(),
    digest: new UfragDigest(Int32Array.of(4, 5, 6, 7).map((purpose) => memory.secret(purpose))),
    stun: new StunSummary(),
    client: new Address(),
    proxy: new Address(),
  }
}

/** A change of the tables begins; until `settled` a state that attaches finds it half done. */
export function changing({ words }: RelayMemory): void {
  words[HEADER_IS_CHANGING] = 1
}

/** The tables are whole. */
export function settled({ words }: RelayMemory): void {
  words[HEADER_IS_CHANGING] = 0
}
