/** A relay's decisions with any number of confirmed flows in its tables, and datagrams of theirs in random order. */

import {
  Address,
  type Route,
  type RoutingCodec,
  SPP_LENGTH,
  toAddress,
  writeSpp,
} from '../../../core/index.ts'
import { Prng } from '../../../core/testing/prng.ts'
import { Decision } from '../../../plugins/relay/pure/decision.ts'
import { fromClient } from '../../../plugins/relay/pure/from-client.ts'
import { fromTransceiver } from '../../../plugins/relay/pure/from-transceiver.ts'
import { CLIENTS_PER_UFRAG } from '../../../plugins/relay/pure/limits.ts'
import { type RelayState, relayState } from '../../../plugins/relay/pure/relay-state.ts'
import { bindingRequest, stunMessage } from '../../stun-bytes.ts'

const LOCAL = toAddress('203.0.113.10', 3478)!
const TRANSCEIVERS = 64
/** Bytes of a framed datagram that are looked at. */
const FRAME = SPP_LENGTH + 10
const MEDIA = Buffer.alloc(160, 0x80)
const SUCCESS = stunMessage(0x0101, [])

/** A relay with this codec and no flows. */
export function emptyRelay(codec: RoutingCodec, maxFlows: number): RelayState {
  return relayState({
    codec,
    locals: [LOCAL],
    maxFlows,
    seed: 0x1234_5678_9abc,
    cluster: 1,
    cidrs: ['10.0.0.0/16'],
    ports: { first: 3479, last: 3479 },
    own: [LOCAL],
  })
}

/** The number of a transceiver as its address. */
export function transceiver(n: number): Address {
  return new Address().set(0, 0, 0xffff, 0x0a000000 + n + 1, 3479)
}

/** Client number n's address, in a network of its own for every 200 of them. */
export function client(n: number, into: Address): Address {
  return into.set(
    0,
    0,
    0xffff,
    (0x14000000 + (((n / 200) | 0) << 8) + (n % 200) + 1) | 0,
    1024 + (n % 60_000),
  )
}

/** Ufrags are `ufrag` and a number, which leads to that transceiver. */
const CODEC: RoutingCodec = {
  encode: () => '',
  decode(text, start, end): Route {
    const n = Number(Buffer.from(text.subarray(start + 5, end)).toString('latin1'))
    return { cluster: 1, address: transceiver(n % TRANSCEIVERS), session: new Uint8Array(8) }
  },
}

/** Confirmed flows, and what their clients and transceivers send. */
export class FilledRelay {
  readonly state: RelayState
  readonly decision = new Decision()
  readonly #frames: Buffer
  readonly #order: Uint32Array
  readonly #homes = Array.from({ length: TRANSCEIVERS }, (_, n) => transceiver(n))
  readonly #source = new Address()
  #now = 0

  constructor(flows: number) {
    this.state = emptyRelay(CODEC, flows)
    this.#frames = Buffer.alloc(flows * FRAME, 0x80)
    for (let n = 0; n < flows; n++) this.#open(n)
    if (this.state.flows.confirmed !== flows) throw new Error(`only ${this.state.flows.confirmed} flows`)
    this.#order = shuffled(flows)
    for (const [i, n] of this.#order.entries())
      writeSpp(this.#frames, i * FRAME, client(n, this.#source), LOCAL)
  }

  /** One packet of media from each client, `times` over. Nanoseconds a packet. */
  up(times: number): number {
    const { state, decision } = this
    const source = this.#source
    const start = cpuNs()
    for (let t = 0; t < times; t++) {
      for (let i = 0; i < this.#order.length; i++) {
        client(this.#order[i]!, source)
        fromClient(state, this.#now, 0, source, MEDIA, 0, MEDIA.length, decision)
        if (decision.count !== 1) throw new Error(`dropped: ${decision.reason}`)
      }
    }
    return (cpuNs() - start) / (times * this.#order.length)
  }

  /** One packet of media to each client, `times` over. Nanoseconds a packet. */
  down(times: number): number {
    const { state, decision } = this
    const start = cpuNs()
    for (let t = 0; t < times; t++) {
      for (let i = 0, at = 0; i < this.#order.length; i++, at += FRAME) {
        const home = this.#homes[(this.#order[i]! >> 3) % TRANSCEIVERS]!
        fromTransceiver(state, this.#now, home, this.#frames, at, at + FRAME, decision)
        if (decision.count !== 1) throw new Error(`dropped: ${decision.reason}`)
      }
    }
    return (cpuNs() - start) / (times * this.#order.length)
  }

  /** The same as `up` in what a plain program would do: a Map by the client's address as text. */
  plain(times: number): () => number {
    const flows = new Map<string, { to: Address; packets: number; bytes: number }>()
    for (let n = 0; n < this.#order.length; n++) {
      flows.set(client(n, this.#source).toString(), { to: this.#homes[0]!, packets: 0, bytes: 0 })
    }
    return () => {
      const source = this.#source
      const start = cpuNs()
      for (let t = 0; t < times; t++) {
        for (let i = 0; i < this.#order.length; i++) {
          const flow = flows.get(client(this.#order[i]!, source).toString())!
          flow.packets++
          flow.bytes += MEDIA.length
        }
      }
      return (cpuNs() - start) / (times * this.#order.length)
    }
  }

  /** Eight clients a ufrag, and no more a second than the budget of decodes allows. */
  #open(n: number): void {
    const ufrag = (n / CLIENTS_PER_UFRAG) | 0
    if (n % 40 === 0) this.#now++
    const request = bindingRequest(`ufrag${ufrag}:x`)
    const source = client(n, this.#source)
    fromClient(this.state, this.#now, 0, source, request, 0, request.length, this.decision)
    const success = Buffer.alloc(SPP_LENGTH + SUCCESS.length)
    writeSpp(success, 0, source, LOCAL)
    SUCCESS.copy(success, SPP_LENGTH)
    const home = this.#homes[ufrag % TRANSCEIVERS]!
    fromTransceiver(this.state, this.#now, home, success, 0, success.length, this.decision)
  }
}

/** What this thread has spent. The machine may have other things to do meanwhile. */
export function cpuNs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) * 1000
}

/** The numbers below `count` in random order. */
function shuffled(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  const random = new Prng(count)
  for (let i = count - 1; i > 0; i--) {
    const j = random.below(i + 1)
    const other = order[i]!
    order[i] = order[j]!
    order[j] = other
  }
  return order
}
