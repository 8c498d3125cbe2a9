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
import { HopTable, MAX_HOPS } from './hop-table.ts'
import { IDLE_UFRAGS } from './limits.ts'
import { OtherClusters } from './other-clusters.ts'
import { HEADER_IS_CHANGING, MAX_LOCALS } from './records.ts'
import { RelayCounters } from './relay-counters.ts'
import { RelayMemory, relayMemory, type SharedWords } from './relay-memory.ts'
import { repair } from './repair.ts'
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
  /** The same between relays, seen from the one that is sent to. Default: the header without a tag. */
  readonly answering?: Framing
  /** Where ufrags lead that the codec did not write: a server whose ufrags are its own. Default: nowhere. */
  readonly fallback?: Address
  /** Relays of other clusters; default none. */
  readonly clusters?: OtherClusters
  /** The previous hops, over these same `locals`; default none yet. */
  readonly hops?: HopTable
  /** The public addresses as clients know them; a flow's `local` is an index of this list. */
  readonly locals: readonly Address[]
  readonly maxFlows: number
  /** A random integer below 2^48, secret. The first state of a memory gives it; later ones go on with that. */
  readonly seed: number
  /** The memories of the relay's other workers, of the same seed: see `relayMemories`. Default none. */
  readonly others?: readonly SharedWords[]
  /** Hears of each flow that ends, before its routes do; the view is used again. */
  readonly onFlowEnd?: (flow: FlowView, reference: number) => void
}

/** The state; `stun`, `digest`, `client` and `proxy` are scratch of the reading code. */
export interface RelayState {
  readonly codec: RoutingCodec
  readonly framing: Framing
  readonly answering: Framing
  readonly fallback: Address | undefined
  readonly clusters: OtherClusters
  readonly hops: HopTable
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
 * counters and flows. What a thread left half done when it died is made whole here: so a state that only looks is made
 * before the thread that decides begins. Throws EdgeError when the memory is not for so many flows, or the others have
 * another seed.
 */
export function relayState(options: RelayOptions, words = relayMemory(options.maxFlows)): RelayState {
  const memory = new RelayMemory(words)
  const maxSockets = MAX_LOCALS - MAX_HOPS
  if (memory.maxFlows !== options.maxFlows || options.locals.length > maxSockets) {
    throw new EdgeError(
      'internal',
      `this memory is for ${memory.maxFlows} flows and ${maxSockets} sockets, not ${options.maxFlows} and ${options.locals.length}`,
    )
  }
  memory.plant(options.seed)
  const counters = new RelayCounters(memory)
  const upstreams = new Upstreams(memory)
  const ufrags = new UfragTable(memory, upstreams, IDLE_UFRAGS, memoriesOf(options.others, memory))
  const routes = new RouteTable(memory, ufrags, upstreams)
  const { hops = new HopTable(options.locals), onFlowEnd } = options
  const state: RelayState = {
    codec: options.codec,
    framing: options.framing ?? plainFraming,
    answering: options.answering ?? plainFraming,
    fallback: options.fallback,
    clusters: options.clusters ?? new OtherClusters(),
    hops,
    locals: options.locals,
    allowed: new AllowedRoutes(options),
    memory,
    upstreams,
    ufrags,
    routes,
    flows: new FlowTable(memory, routes, {
      counters,
      onEnd: options.hops ? endOf(hops, onFlowEnd) : onFlowEnd,
    }),
    budget: new DecodeBudget(memory),
    counters,
    silence: new Silence(),
    digest: new UfragDigest(Int32Array.of(4, 5, 6, 7).map((purpose) => memory.secret(purpose))),
    stun: new StunSummary(),
    client: new Address(),
    proxy: new Address(),
  }
  if (memory.words[HEADER_IS_CHANGING] !== 0) {
    repair(state)
    settled(memory)
  }
  return state
}

function memoriesOf(others: RelayOptions['others'] = [], own: RelayMemory): RelayMemory[] {
  const memories = others.map((words) => new RelayMemory(words))
  if (memories.every((other) => other.hasSeedOf(own))) return memories
  throw new EdgeError('internal', 'the memories of one relay have one seed; make them with relayMemories()')
}

/** Opens a flow as `FlowTable.open` does; its hop has one flow more. */
export function openFlow(
  { flows, hops }: RelayState,
  now: number,
  local: number,
  client: Address,
  evict: boolean,
): number {
  const flow = flows.open(now, local, client, evict)
  if (flow !== 0) hops.began(local)
  return flow
}

function endOf(hops: HopTable, onFlowEnd: RelayOptions['onFlowEnd']): NonNullable<RelayOptions['onFlowEnd']> {
  return (flow, reference) => {
    onFlowEnd?.(flow, reference)
    hops.ended(flow.local)
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
