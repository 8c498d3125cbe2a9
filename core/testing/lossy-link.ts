/**
 * A real UDP hop on 127.0.0.1 between clients and one server, as bad as a test wants it: seeded loss, duplication,
 * reordering and delay, a NAT that gives a client a new port in mid-call, and a hook on every datagram.
 *
 * Clients send to `link.address`. Each gets a socket of its own towards the server, so the server sees one source
 * port for each client, as it would behind a NAT.
 */

import type { UdpEngine, UdpPort } from '../contracts/udp-port.ts'
import { defaultEngine } from '../udp/engines.ts'
import { Address } from '../wire/address.ts'
import { Impairment, type Impairments } from './impairment.ts'
import { NatBinding } from './nat-binding.ts'

/** `up`: from a client to the server. `down`: from the server to a client. */
export type Direction = 'up' | 'down'

/** A hook on each datagram, before any fault: returns what goes on, changed or not, or undefined to drop it. */
export type Tap = (direction: Direction, datagram: Buffer, client: Address) => Buffer | undefined

/** How to open a link. */
export interface LossyLinkOptions {
  /** Where the clients' datagrams go. */
  readonly server: Address
  /** The same seed and the same datagrams give the same faults. Default 1. */
  readonly seed?: number
  readonly up?: Impairments
  readonly down?: Impairments
  readonly tap?: Tap
  readonly engine?: UdpEngine
}

/** What a link has done in one direction. */
export interface LinkCounters {
  received: number
  /** Went out; a datagram that is delivered twice counts twice. */
  forwarded: number
  /** Lost by chance or dropped by the tap. */
  dropped: number
}

/** An open link; `close` it at the end of the test, or let `await using` do so. */
export class LossyLink implements AsyncDisposable {
  readonly counters: Record<Direction, LinkCounters> = {
    up: { received: 0, forwarded: 0, dropped: 0 },
    down: { received: 0, forwarded: 0, dropped: 0 },
  }
  /** May be set and unset at any time. */
  tap: Tap | undefined
  readonly #server: Address
  readonly #engine: UdpEngine
  readonly #bindings = new Map<string, Promise<NatBinding>>()
  readonly #ways: Record<Direction, Impairment>
  #front: UdpPort | undefined

  private constructor(options: LossyLinkOptions) {
    const seed = options.seed ?? 1
    this.#server = options.server.clone()
    this.#engine = options.engine ?? defaultEngine()
    this.tap = options.tap
    this.#ways = { up: new Impairment(seed, options.up), down: new Impairment(~seed, options.down) }
  }

  /** Opens a link on a free port of 127.0.0.1. */
  static async open(options: LossyLinkOptions): Promise<LossyLink> {
    const link = new LossyLink(options)
    link.#front = await link.#engine.open({
      address: new Address().set(0, 0, 0xffff, 0x7f000001, 0),
      onDatagram: ({ bytes, start, end, source }) => {
        link.#fromClient(Buffer.from(bytes.subarray(start, end)), source.clone())
      },
    })
    return link
  }

  /** Where clients send to. */
  get address(): Address {
    return this.#front!.local
  }

  /** The clients heard so far. */
  async clients(): Promise<Address[]> {
    return (await this.#all()).map((binding) => binding.client)
  }

  /** Where the server sees a client. Without `client`: the only one. */
  async mapped(client?: Address): Promise<Address> {
    return (await this.#find(client)).mapped
  }

  /** Replaces the faults of one direction from now on. */
  impair(direction: Direction, how: Impairments): void {
    this.#ways[direction].set(how)
  }

  /**
   * What a NAT does when it forgets: the client's datagrams leave from a new port, and what the server still sends
   * to the old one is lost. Returns the new address. Without `client`: the only one.
   */
  async rebind(client?: Address): Promise<Address> {
    return (await this.#find(client)).rebind()
  }

  /** Sends to the server from where it sees a client, past tap and faults: as someone who forges that source. */
  async spoof(datagram: Uint8Array, client?: Address): Promise<void> {
    ;(await this.#find(client)).send(datagram)
  }

  /** Closes every socket and drops what is delayed. */
  async close(): Promise<void> {
    this.#ways.up.close()
    this.#ways.down.close()
    await this.#front!.close()
    for (const binding of await this.#all()) await binding.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #fromClient(datagram: Buffer, client: Address): void {
    const key = String(client)
    let binding = this.#bindings.get(key)
    if (!binding) {
      binding = NatBinding.open(this.#engine, client, this.#server, (bytes) => {
        this.#pass('down', bytes, client, (out) => this.#front!.send(out, 0, out.length, client))
      })
      this.#bindings.set(key, binding)
    }
    // Through the promise even when it is open, so that a client's datagrams keep their order.
    void binding.then((open) => this.#pass('up', datagram, client, (out) => open.send(out)))
  }

  #pass(direction: Direction, datagram: Buffer, client: Address, send: (datagram: Buffer) => void): void {
    const counters = this.counters[direction]
    counters.received++
    const out = this.tap ? this.tap(direction, datagram, client) : datagram
    const passed =
      out !== undefined &&
      this.#ways[direction].pass(() => {
        counters.forwarded++
        send(out)
      })
    if (!passed) counters.dropped++
  }

  #all(): Promise<NatBinding[]> {
    return Promise.all(this.#bindings.values())
  }

  async #find(client: Address | undefined): Promise<NatBinding> {
    const binding = client && (await this.#bindings.get(String(client)))
    if (binding) return binding
    const all = await this.#all()
    if (client) throw new Error(`the link has heard nothing from ${client}`)
    if (all.length !== 1) throw new Error(`the link has ${all.length} clients: say which`)
    return all[0]!
  }
}
