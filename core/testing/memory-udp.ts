/**
 * UDP without sockets: ports that meet in a network object. Datagrams arrive when the test says so, or by themselves
 * in the next microtask; in the order in which they were sent.
 *
 * A port may bind any ip at all, so a test can play clients of documentation addresses.
 */

import {
  MAX_DATAGRAM,
  type UdpCounters,
  type UdpEngine,
  type UdpOptions,
  type UdpPort,
} from '../contracts/udp-port.ts'
import { EdgeError } from '../errors.ts'
import { ReceiveSlot } from '../udp/receive-slot.ts'
import { Address } from '../wire/address.ts'

/** A datagram on its way. */
export interface Flight {
  readonly from: Address
  readonly to: Address
  readonly bytes: Buffer
}

/** How a network delivers: `explicit` waits for `deliver`, `microtask` does not. */
export type Delivery = 'explicit' | 'microtask'

/** The wires between memory ports. */
export class MemoryNetwork {
  /** Datagrams that nobody was there to hear. */
  unheard = 0
  /** A hook on each datagram as it is sent: false drops it. */
  filter: ((flight: Flight) => boolean) | undefined
  readonly engine: UdpEngine = { name: 'memory', open: async (options) => this.#open(options) }
  readonly #delivery: Delivery
  readonly #ports = new Map<string, MemoryPort>()
  readonly #flights: Flight[] = []
  #scheduled = false
  #nextPort = 49152

  constructor(delivery: Delivery = 'microtask') {
    this.#delivery = delivery
  }

  /** Datagrams sent and not yet delivered. */
  get inFlight(): readonly Flight[] {
    return this.#flights
  }

  /** Puts a datagram on the wire, from any address to any. The bytes are copied. */
  inject(bytes: Uint8Array, from: Address, to: Address): void {
    const flight = { from: from.clone(), to: to.clone(), bytes: Buffer.from(bytes) }
    if (this.filter?.(flight) === false) return
    this.#flights.push(flight)
    if (this.#delivery === 'explicit' || this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.deliver()
    })
  }

  /** Delivers what is in flight, also what that causes to be sent; at most `limit` datagrams. Returns how many. */
  deliver(limit = 100_000): number {
    let count = 0
    for (; count < limit; count++) {
      const flight = this.#flights.shift()
      if (!flight) break
      const port = this.#portFor(flight.to)
      if (port) port.receive(flight)
      else this.unheard++
    }
    return count
  }

  /** The port of this very address, else one for all addresses; `::` hears both families. */
  #portFor(to: Address): MemoryPort | undefined {
    const exact = this.#ports.get(String(to))
    if (exact) return exact
    const four = to.isIPv4 ? this.#ports.get(`0.0.0.0:${to.port}`) : undefined
    return four ?? this.#ports.get(`[::]:${to.port}`)
  }

  #open(options: UdpOptions): UdpPort {
    const local = options.address.clone()
    while (local.port === 0) {
      local.port = this.#nextPort++
      if (this.#ports.has(String(local))) local.port = 0
    }
    const key = String(local)
    if (this.#ports.has(key)) {
      throw new EdgeError('address_in_use', `UDP ${key} is in use by another port of this memory network`)
    }
    const port = new MemoryPort(local, options, this, () => this.#ports.delete(key))
    this.#ports.set(key, port)
    return port
  }
}

class MemoryPort implements UdpPort {
  readonly local: Address
  readonly counters: UdpCounters = { received: 0, sent: 0, truncated: 0, receiveErrors: 0, sendErrors: 0 }
  readonly #options: UdpOptions
  readonly #network: MemoryNetwork
  readonly #onClose: () => void
  readonly #slot = new ReceiveSlot()
  #open = true

  constructor(local: Address, options: UdpOptions, network: MemoryNetwork, onClose: () => void) {
    this.local = local
    this.#options = options
    this.#network = network
    this.#onClose = onClose
  }

  send(bytes: Uint8Array, start: number, end: number, to: Address): void {
    const valid = start >= 0 && end >= start && end <= bytes.length
    if (!this.#open || !valid || to.port === 0 || (this.local.isIPv4 && !to.isIPv4)) {
      this.counters.sendErrors++
      return
    }
    this.counters.sent++
    this.#network.inject(bytes.subarray(start, end), this.#sourceFor(to), to)
  }

  async close(): Promise<void> {
    if (this.#open) this.#onClose()
    this.#open = false
  }

  receive(flight: Flight): void {
    if (flight.bytes.length > MAX_DATAGRAM) {
      this.counters.truncated++
      return
    }
    this.counters.received++
    this.#slot.fill(flight.bytes)
    this.#slot.source.copy(flight.from)
    try {
      this.#options.onDatagram(this.#slot)
      this.#options.onBatchEnd?.()
    } catch {
      this.counters.receiveErrors++
    }
    // Whoever kept the datagram instead of copying it finds out here, and not under load.
    this.#slot.bytes.fill(0xdd)
    this.#slot.source.set(0, 0, 0, 0, 0)
  }

  /** A port for all addresses sends from loopback, as a kernel without other interfaces would. */
  #sourceFor(to: Address): Address {
    if (!this.local.isUnspecified) return this.local
    const source = new Address()
    if (to.isIPv4) return source.set(0, 0, 0xffff, 0x7f000001, this.local.port)
    return source.set(0, 0, 0, 1, this.local.port)
  }
}
