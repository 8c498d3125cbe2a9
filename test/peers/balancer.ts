/**
 * A UDP load balancer on 127.0.0.1 in front of relays, which a test tells to rehash: from then on its clients' packets
 * go to another relay. Each client keeps one source port towards every relay, and whichever relay answers, the answer
 * reaches the client from the balancer's own address, as behind IPVS or with direct server return. The relays
 * advertise `address` and must be told to.
 *
 * Every datagram is counted by kind; RTP is told from RTCP by RFC 5761 §4.
 */

import { Address, packetKind, STUN_BINDING_REQUEST, type UdpPort } from '../../core/index.ts'
import { dgramEngine } from '../../core/udp/dgram-engine.ts'

/** What a datagram is, as far as one can tell without keys. */
export type Kind = 'check' | 'stun' | 'dtls' | 'rtp' | 'rtcp' | 'other'

/** `up`: from a client to a relay. `down`: from a relay to a client. */
export type Direction = 'up' | 'down'

/** Sees each datagram before it goes on; false drops it. */
export type Tap = (direction: Direction, kind: Kind, datagram: Buffer) => boolean | undefined

/** How many datagrams of each kind have come. */
export type KindCounts = Record<Kind, number>

/** An open one; close it, or let `await using` do so. */
export class Balancer implements AsyncDisposable {
  /** What came, whatever became of it. */
  readonly counts: Record<Direction, KindCounts> = { up: noCounts(), down: noCounts() }
  /** How many datagrams went on. */
  readonly passed: Record<Direction, number> = { up: 0, down: 0 }
  /** True: clients' checks are dropped, so that nothing but a recovery store can bring a call back. */
  holdsChecks = false
  tap: Tap | undefined
  /** What was for a relay that was `cut` off, or came from it, and went nowhere. */
  readonly cutOff: Record<Direction, KindCounts> = { up: noCounts(), down: noCounts() }
  /**
   * True: a client goes on to the relay that its first packet went to, as where a node's connection tracking has an
   * entry for it that each packet renews. `forget` deletes the entries.
   */
  pins = false
  readonly #pinned = new Map<string, Address>()
  readonly #cut = new Set<string>()
  readonly #relays: Address[] = []
  readonly #clients = new Map<string, Promise<UdpPort>>()
  #current: Address | undefined
  #front: UdpPort | undefined

  /** Opens one on a free port. It leads nowhere until `leadTo`. */
  static async open(): Promise<Balancer> {
    const balancer = new Balancer()
    balancer.#front = await dgramEngine.open({
      address: loopback(),
      onDatagram: ({ bytes, start, end, source }) => {
        balancer.#up(Buffer.from(bytes.subarray(start, end)), source.clone())
      },
    })
    return balancer
  }

  /** The one address that clients know. */
  get address(): Address {
    return this.#front!.local
  }

  /** All clients' packets go to this relay from now on; what others still answer is passed on. */
  leadTo(relay: Address): void {
    this.#current = relay.clone()
    if (!this.#relays.some((known) => known.equals(relay))) this.#relays.push(this.#current)
  }

  /** Nothing goes to this relay or comes from it any more, as if its machine were gone. */
  cut(relay: Address): void {
    this.#cut.add(String(relay))
  }

  /** Forgets which client goes to which relay. */
  forget(): void {
    this.#pinned.clear()
  }

  /** Where the relays see the clients. */
  async mapped(): Promise<Address[]> {
    return (await Promise.all(this.#clients.values())).map(({ local }) => local)
  }

  /** Sends a datagram to the current relay from where it sees the only client: as somebody else at that address. */
  async send(datagram: Uint8Array): Promise<void> {
    const [port] = await Promise.all(this.#clients.values())
    if (port && this.#current) port.send(datagram, 0, datagram.length, this.#current)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#front!.close()
    for (const port of await Promise.all(this.#clients.values())) await port.close()
  }

  #up(datagram: Buffer, client: Address): void {
    const key = String(client)
    let port = this.#clients.get(key)
    if (!port) {
      port = this.#open(client)
      this.#clients.set(key, port)
    }
    // Through the promise even when it is open, so that a client's datagrams keep their order.
    void port.then((open) => {
      const relay = this.#relayOf(key)
      if (relay && this.#passes('up', datagram, relay)) open.send(datagram, 0, datagram.length, relay)
    })
  }

  #open(client: Address): Promise<UdpPort> {
    return dgramEngine.open({
      address: loopback(),
      onDatagram: ({ bytes, start, end, source }) => {
        if (!this.#relays.some((relay) => relay.equals(source))) return
        const datagram = Buffer.from(bytes.subarray(start, end))
        if (this.#passes('down', datagram, source)) this.#front!.send(datagram, 0, datagram.length, client)
      },
    })
  }

  #relayOf(client: string): Address | undefined {
    if (!this.#current || !this.pins) return this.#current
    const relay = this.#pinned.get(client) ?? this.#current
    this.#pinned.set(client, relay)
    return relay
  }

  #passes(direction: Direction, datagram: Buffer, relay: Address): boolean {
    const kind = kindOf(datagram)
    this.counts[direction][kind]++
    if (this.#cut.has(String(relay))) {
      this.cutOff[direction][kind]++
      return false
    }
    if (this.tap?.(direction, kind, datagram) === false) return false
    if (this.holdsChecks && direction === 'up' && kind === 'check') return false
    this.passed[direction]++
    return true
  }
}

/** What a datagram is. */
export function kindOf(datagram: Buffer): Kind {
  if (datagram.length < 2) return 'other'
  switch (packetKind(datagram[0]!)) {
    case 'stun':
      return datagram.readUInt16BE(0) === STUN_BINDING_REQUEST ? 'check' : 'stun'
    case 'dtls':
      return 'dtls'
    case 'media':
      return datagram[1]! >= 192 && datagram[1]! <= 223 ? 'rtcp' : 'rtp'
    default:
      return 'other'
  }
}

function noCounts(): KindCounts {
  return { check: 0, stun: 0, dtls: 0, rtp: 0, rtcp: 0, other: 0 }
}

function loopback(): Address {
  return new Address().set(0, 0, 0xffff, 0x7f000001, 0)
}
