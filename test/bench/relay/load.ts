/**
 * The load on a relay: many clients and the transceiver in one thread that never sleeps, so that what it adds to a
 * datagram's time is small and the same for every relay.
 */

import { HEAD_ROOM } from '../../../core/contracts/udp-port.ts'
import type { Libc } from '../../../core/ffi/libc.ts'
import { SLOT_BYTES } from '../../../core/ffi/message-memory.ts'
import { ReceiveVector } from '../../../core/ffi/message-vector.ts'
import { openUdpSocket } from '../../../core/ffi/udp-socket.ts'
import { type Address, parseAddress } from '../../../core/index.ts'
import { BATCH, ClientVector } from './client-vector.ts'
import { confirmedFlow, MEDIA_BYTES, type Requests, sentAt, viewsOf, writeMedia } from './datagrams.ts'
import { Histogram } from './histogram.ts'
import type { Order, Sample } from './load-protocol.ts'
import { type ProcessTimes, processTimes, residentBytes, stolenSeconds } from './proc.ts'
import { EchoingTransceiver } from './transceiver.ts'

const KERNEL_BUFFER = 64 * 1024 * 1024

/** Datagrams later than this are skipped: the load is overloaded, and a burst would measure something else. */
const LATEST_MS = 50

/** Requests at once, and the pause between: 80,000 a second is what a relay's budget for ufrags allows. */
const REQUESTS = 16
const REQUESTS_EVERY_MS = 0.2
const ANSWERS_MS = 150
const CONFIRM_WITHIN_MS = 60_000

/** Batches taken from each socket in one turn: what comes back must not wait behind what is still to be sent. */
const BATCHES_A_TURN = 4

const SENT_A_TURN = 32

/** What is sent last needs time to come back, but when nothing has come for a while nothing will. */
const LAST_MS = 250
const SILENCE_MS = 30

/** What the counters said at one moment. */
interface Mark {
  readonly at: number
  readonly relay: ProcessTimes
  readonly own: number
  readonly stolen: number
  readonly forwarded: number
}

/** The clients and the transceiver. */
export class Load {
  readonly transceiver: EchoingTransceiver
  readonly #fd: number
  readonly #outgoing: ClientVector
  readonly #incoming: ReceiveVector
  readonly #views: ReturnType<typeof viewsOf>
  readonly #times = new Histogram()
  #beside: (now: number) => void = () => {}
  #atOrder = 0
  /** When media of this run came back last. */
  #heard = 0
  #confirmed = new Uint8Array(0)
  #unconfirmed = 0
  #received = 0
  #next = 0
  #run = 0
  /** Media sent within [from, to) is measured. */
  #from = 0
  #to = 0

  /** Throws SocketRefusal. */
  constructor(libc: Libc) {
    this.transceiver = new EchoingTransceiver(libc, known('127.0.0.1:0'))
    const buffers = { receiveBuffer: KERNEL_BUFFER, sendBuffer: KERNEL_BUFFER }
    this.#fd = openUdpSocket(libc, known('0.0.0.0:0'), buffers).fd
    this.#outgoing = new ClientVector(libc, this.#fd)
    this.#incoming = new ReceiveVector(libc, BATCH)
    this.#views = viewsOf(new Uint8Array(this.#incoming.slots[0]!.buffer))
  }

  /** Datagrams that a relay has brought, to the transceiver and to clients. */
  get #forwarded(): number {
    return this.#received + this.transceiver.received
  }

  /** Opens or refreshes a flow for each client. Throws when some are not answered. */
  confirm(relay: Address, flows: number, requests: Requests): void {
    this.#outgoing.aim(relay)
    this.#confirmed = new Uint8Array(flows)
    this.#unconfirmed = flows
    const until = performance.now() + CONFIRM_WITHIN_MS
    while (this.#unconfirmed > 0) {
      this.#ask(flows, requests)
      this.#drainFor(ANSWERS_MS, () => this.#unconfirmed > 0)
      if (performance.now() > until)
        throw new Error(`${this.#unconfirmed} of ${flows} flows are not answered`)
    }
  }

  /** Takes one sample of a relay whose flows are confirmed; `beside` may send as well, each turn. */
  measure(relay: Address, order: Order, beside: (now: number) => void = () => {}): Sample {
    this.#outgoing.aim(relay)
    this.#beside = beside
    this.#times.clear()
    this.#run++
    const begin = performance.now()
    this.#from = begin + order.warmMs
    this.#to = this.#from + order.measureMs
    let paced = this.#pace(begin, this.#from, order)
    // Reading the counters takes a while, which is not measured.
    const first = this.#mark(order.pid)
    this.#from = first.at
    const warmed = paced
    paced = this.#pace(begin, this.#to, order, paced)
    const last = this.#mark(order.pid)
    const sent = paced.sent - warmed.sent
    this.#heard = performance.now()
    const { patienceMs = SILENCE_MS } = order
    const isComing = (): boolean => this.#times.total < sent && performance.now() - this.#heard < patienceMs
    this.#drainFor(Math.max(LAST_MS, patienceMs), isComing)
    return this.#sample(order, first, last, { sent, skipped: paced.skipped - warmed.skipped })
  }

  /** Sends what is due until a moment, and hears. */
  #pace(begin: number, until: number, order: Order, from = { sent: 0, skipped: 0 }) {
    const perMs = order.rate / 1000
    let { sent, skipped } = from
    for (let now = performance.now(); now < until; now = performance.now()) {
      let due = Math.floor((now - begin) * perMs) - sent - skipped
      if (due > perMs * LATEST_MS) {
        skipped += due - Math.ceil(perMs * LATEST_MS)
        due = Math.ceil(perMs * LATEST_MS)
      }
      const trains = Math.min(Math.floor(due / order.train), SENT_A_TURN)
      if (trains > 0) sent += this.#send(trains, order, now)
      this.#beside(now)
      for (let i = 0; i < BATCHES_A_TURN && this.transceiver.drain() === BATCH; i++);
      for (let i = 0; i < BATCHES_A_TURN && this.#drain() === BATCH; i++);
    }
    return { sent, skipped }
  }

  #send(trains: number, { flows, train }: Order, now: number): number {
    const out = this.#outgoing
    for (let i = 0; i < trains; i++) {
      const flow = this.#next < flows ? this.#next : 0
      this.#next = flow + 1
      const { at } = out
      for (let k = 0; k < train; k++) writeMedia(out.views, at + k * MEDIA_BYTES, flow, this.#run, now)
      out.add(flow, train * MEDIA_BYTES, MEDIA_BYTES)
    }
    out.flush()
    return trains * train
  }

  #ask(flows: number, requests: Requests): void {
    const out = this.#outgoing
    for (let flow = 0; flow < flows; flow++) {
      if (this.#confirmed[flow] === 0) out.add(flow, requests.write(out.views, out.at, flow))
      if (out.count < REQUESTS) continue
      out.flush()
      this.#drainFor(REQUESTS_EVERY_MS, () => true)
    }
    if (out.count > 0) out.flush()
  }

  #drainFor(milliseconds: number, isWanted: () => boolean): void {
    const until = performance.now() + milliseconds
    do {
      this.transceiver.drain()
      this.#drain()
    } while (isWanted() && performance.now() < until)
  }

  /** Takes one batch of what has come back to the clients; how many datagrams. */
  #drain(): number {
    const incoming = this.#incoming
    const count = incoming.receive(this.#fd)
    if (count <= 0) return 0
    const now = performance.now()
    this.#received += count
    for (let i = 0; i < count; i++) this.#hear(i * SLOT_BYTES + HEAD_ROOM, incoming.length(i), now)
    return count
  }

  #hear(at: number, length: number, now: number): void {
    const sent = sentAt(this.#views, at, length, this.#run)
    if (sent >= 0) {
      this.#heard = now
      if (sent >= this.#from && sent < this.#to) this.#times.add(now - sent)
      return
    }
    const flow = confirmedFlow(this.#views, at)
    if (flow < 0 || this.#confirmed[flow] !== 0) return
    this.#confirmed[flow] = 1
    this.#unconfirmed--
  }

  #mark(pid: number): Mark {
    const { user, system } = process.cpuUsage()
    return {
      relay: processTimes(pid),
      own: (user + system) / 1000,
      stolen: stolenSeconds() * 1000,
      forwarded: this.#forwarded,
      at: performance.now(),
    }
  }

  #sample(
    order: Order,
    first: Mark,
    last: Mark,
    { sent, skipped }: { sent: number; skipped: number },
  ): Sample {
    const elapsed = last.at - first.at
    const forwardedInAll = this.#forwarded - this.#atOrder
    this.#atOrder = this.#forwarded
    return {
      forwardedInAll,
      sent,
      loss: sent === 0 ? 1 : Math.max(0, 1 - this.#times.total / sent),
      forwarded: last.forwarded - first.forwarded,
      seconds: elapsed / 1000,
      cpuNs: last.relay.runNs - first.relay.runNs,
      waitNs: last.relay.waitNs - first.relay.waitNs,
      residentBytes: residentBytes(order.pid),
      p50: this.#times.quantile(0.5),
      p99: this.#times.quantile(0.99),
      loadShare: (last.own - first.own) / elapsed,
      stolenShare: (last.stolen - first.stolen) / elapsed,
      skipped: sent === 0 ? 1 : skipped / (sent + skipped),
    }
  }
}

function known(text: string): Address {
  return parseAddress(text)!
}
