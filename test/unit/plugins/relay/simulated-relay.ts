/** The relay's decisions with time, clients and transceivers in a test's hands. */

import {
  type Address,
  type Framing,
  parseAddress,
  type Route,
  type RoutingCodec,
  SPP_LENGTH,
  writeSpp,
} from '../../../../core/index.ts'
import { Decision } from '../../../../plugins/relay/pure/decision.ts'
import type { DropReason } from '../../../../plugins/relay/pure/drop-reasons.ts'
import type { FlowView } from '../../../../plugins/relay/pure/flow-view.ts'
import { fromClient } from '../../../../plugins/relay/pure/from-client.ts'
import { fromServer, fromTransceiver } from '../../../../plugins/relay/pure/from-transceiver.ts'
import { HopTable } from '../../../../plugins/relay/pure/hop-table.ts'
import { OtherClusters } from '../../../../plugins/relay/pure/other-clusters.ts'
import { recover } from '../../../../plugins/relay/pure/recover.ts'
import type { SharedWords } from '../../../../plugins/relay/pure/relay-memory.ts'
import { type RelayOptions, type RelayState, relayState } from '../../../../plugins/relay/pure/relay-state.ts'
import { bindingRequest, stunMessage } from '../../../stun-bytes.ts'

/**
 * A reason to drop, or where the datagram went: transceivers on the way up, `socket > client` on the way down, and
 * `relay < socket > client` back to another relay.
 */
export type Outcome = DropReason | string[]

/** An address that a test writes down. */
export function at(text: string): Address {
  const address = parseAddress(text)
  if (!address) throw new Error(`"${text}" is not an ip:port`)
  return address
}

/** Addresses of the tests. */
export const LOCALS = [at('203.0.113.10:3478'), at('[2001:db8::10]:3478'), at('203.0.113.11:3478')]
export const UPSTREAM = at('10.0.0.4:3480')
export const T1 = '10.0.0.1:3479'
export const T2 = '10.0.0.2:3479'
export const T3 = '10.0.0.3:3479'
export const CLIENT = '198.51.100.7:40000'

/** Datagrams of the tests. */
export const SUCCESS = stunMessage(0x0101, [])
export const ERROR = stunMessage(0x0111, [])
export const REQUEST_DOWN = bindingRequest('client:server')
export const INDICATION = stunMessage(0x0011, [])
export const MEDIA = Buffer.from([0x80, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0xfc])
export const DTLS = Buffer.from([22, 0xfe, 0xfd, 0])

/** One relay, cluster 1, two IPv4 public sockets (0 and 2) and an IPv6 one (1). */
export class SimulatedRelay {
  /** Where 32-bit time turns negative is crossed by every test that waits for longer than a flow lives. */
  now = 2 ** 31 - 15_000
  decodes = 0
  readonly decision = new Decision()
  state: RelayState
  readonly #options: RelayOptions
  readonly #hops = HopTable.memory()
  readonly #routes = new Map<string, Route>()

  constructor(
    options: {
      maxFlows?: number
      cidrs?: string[]
      framing?: Framing
      clusters?: number[]
      /** More sockets of ours. */
      own?: Address[]
      fallback?: string
      onFlowEnd?(flow: FlowView): void
      /** Of a relay with several workers: this one's memory, and then the others'. */
      memories?: readonly SharedWords[]
    } = {},
  ) {
    const codec: RoutingCodec = {
      encode: () => '',
      decode: (text, start, end) => {
        this.decodes++
        return this.#routes.get(Buffer.from(text.subarray(start, end)).toString('latin1'))
      },
    }
    this.#options = {
      codec,
      locals: LOCALS,
      maxFlows: options.maxFlows ?? 64,
      seed: 12345,
      cluster: 1,
      cidrs: options.cidrs ?? ['10.0.0.0/24'],
      ports: { first: 3479, last: 3490 },
      own: [...LOCALS, UPSTREAM, ...(options.own ?? [])],
      clusters: new OtherClusters(options.clusters),
      hops: new HopTable(LOCALS, this.#hops),
      ...(options.fallback ? { fallback: at(options.fallback) } : {}),
      ...(options.framing ? { framing: options.framing } : {}),
      ...(options.onFlowEnd ? { onFlowEnd: options.onFlowEnd } : {}),
      others: options.memories?.slice(1) ?? [],
    }
    this.state = relayState(this.#options, options.memories?.[0])
  }

  /** Another state takes over the memory, as a worker does that replaces one that died. */
  attach(maxFlows = this.#options.maxFlows): void {
    const { words } = this.state.memory
    const hops = new HopTable(LOCALS, this.#hops)
    this.state = relayState({ ...this.#options, hops, seed: 999, maxFlows }, words)
  }

  /** Makes a ufrag lead somewhere. */
  issue(ufrag: string, transceiver: string, cluster = 1): void {
    const session = Buffer.from(ufrag.padEnd(8, '0').slice(0, 8))
    this.#routes.set(ufrag, { cluster, address: at(transceiver), session })
  }

  /** A datagram from a client. */
  up(bytes: Buffer, client = CLIENT, local = 0): Outcome {
    fromClient(this.state, this.now, local, at(client), bytes, 0, bytes.length, this.decision)
    const { reason, count, to } = this.decision
    return reason ?? to.slice(0, count).map(String).sort()
  }

  /** A client's connectivity check. */
  check(ufrag: string, client = CLIENT, local = 0): Outcome {
    return this.up(bindingRequest(`${ufrag}:client`), client, local)
  }

  /** A framed datagram from a transceiver. */
  down(transceiver: string, payload: Buffer, client = CLIENT, proxy = LOCALS[0]!): Outcome {
    const bytes = Buffer.concat([Buffer.alloc(SPP_LENGTH), payload])
    writeSpp(bytes, 0, at(client), proxy)
    return this.rawDown(transceiver, bytes)
  }

  /** A datagram to the internal socket, as it is. */
  rawDown(transceiver: string, bytes: Buffer): Outcome {
    fromTransceiver(this.state, this.now, at(transceiver), bytes, 0, bytes.length, this.decision)
    const { reason, local, client } = this.decision
    if (reason !== undefined) return reason
    const { hops } = this.state
    if (!hops.isHop(local)) return [`${LOCALS[local]} > ${client}`]
    return [`${hops.relayOf(local)} < ${hops.proxyOf(local)} > ${client}`]
  }

  /** A bare datagram from a server to the socket of a client's flow. */
  bare(server: string, bytes: Buffer, client = CLIENT): Outcome {
    fromServer(this.state, this.now, 0, at(client), at(server), bytes, 0, bytes.length, this.decision)
    const { reason, local } = this.decision
    return reason ?? [`${LOCALS[local]} > ${this.decision.client}`]
  }

  /** A check and its success response: the route is live, if it may be. */
  connect(ufrag: string, transceiver: string, client = CLIENT): void {
    this.check(ufrag, client)
    this.down(transceiver, SUCCESS, client)
  }

  /** What the recovery store knew. */
  recover(transceiver: string, client = CLIENT, cluster = 1, local = 0): boolean {
    const found = { cluster, transceiver: at(transceiver), session: Buffer.alloc(8, 7) }
    return recover(this.state, this.now, local, at(client), found, this.decision)
  }

  /** How often a reason was counted. */
  drops(reason: DropReason): number {
    return this.state.counters.drops.of(reason)
  }
}
