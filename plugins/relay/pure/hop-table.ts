/**
 * The previous hops of datagrams that came through another relay: which relay sent them, and the address
 * that the client sent to there. Each pair has a number behind those of our own public sockets, so that a flow's key is
 * the same few bits, and a name, an address out of 100::/64 (RFC 6666, nobody's) that transceivers are told instead of
 * the client's. The name follows from the pair alone: a relay that has restarted, or a neighbour, gives it the same.
 */

import { Address } from '../../../core/index.ts'

/** Pairs at a time: sixteen ports of each relay, for each of its addresses. */
const MAX_HOPS = 4_096
/** Pairs looked at for one without flows, when all places are taken. */
const TRIES = 64
const BUCKETS = 8_192
const DISCARD_PREFIX = 0x0100_0000

class Hop {
  readonly relay = new Address()
  readonly proxy = new Address()
  readonly name = new Address()
  flows = 0
  /** The next of its bucket, by number; -1 at the end. */
  next = -1
}

/** Previous hops by number, `base` being the first; those below are our own public sockets. */
export class HopTable {
  readonly base: number
  /** By number: what transceivers and the recovery store know a socket or a hop by; and what its clients send to. */
  readonly names: Address[]
  readonly proxies: Address[]
  readonly #hops: Hop[] = []
  readonly #buckets = new Int32Array(BUCKETS).fill(-1)
  readonly #scratch = new Address()
  #hand = 0

  /** `locals` are the public addresses as clients know them. */
  constructor(locals: readonly Address[]) {
    this.base = locals.length
    this.names = [...locals]
    this.proxies = [...locals]
  }

  /** Whether a number stands for a hop. */
  isHop(local: number): boolean {
    return local >= this.base
  }

  /** The number of a pair, made if need be; -1 when every place has flows. */
  numberOf(relay: Address, proxy: Address): number {
    const name = nameOf(relay, proxy, this.#scratch)
    const known = this.byName(name)
    // Two pairs of one name do not happen by chance, and only a relay that is trusted could look for them.
    if (known >= 0)
      return this.#at(known).relay.equals(relay) && this.proxyOf(known).equals(proxy) ? known : -1
    const place = this.#place()
    if (place < 0) return -1
    const hop = this.#hops[place]!
    hop.relay.copy(relay)
    hop.proxy.copy(proxy)
    hop.name.copy(name)
    const bucket = bucketOf(name)
    hop.next = this.#buckets[bucket]!
    this.#buckets[bucket] = place
    return this.base + place
  }

  /** The number of the hop that has this name, or -1. */
  byName(name: Address): number {
    let place = this.#buckets[bucketOf(name)]!
    while (place >= 0 && !this.#hops[place]!.name.equals(name)) place = this.#hops[place]!.next
    return place < 0 ? -1 : this.base + place
  }

  /** The relay that answers go to, the address that its client sent to, and the pair's name; not to be changed. */
  relayOf(local: number): Address {
    return this.#at(local).relay
  }
  proxyOf(local: number): Address {
    return this.#at(local).proxy
  }
  nameOf(local: number): Address {
    return this.#at(local).name
  }

  /** A flow has begun, or ended. */
  began(local: number): void {
    if (this.isHop(local)) this.#at(local).flows++
  }
  ended(local: number): void {
    if (this.isHop(local)) this.#at(local).flows--
  }

  #at(local: number): Hop {
    return this.#hops[local - this.base]!
  }

  /** A place without flows: a new one, or one whose pair is forgotten. */
  #place(): number {
    if (this.#hops.length < MAX_HOPS) {
      const hop = new Hop()
      this.names.push(hop.name)
      this.proxies.push(hop.proxy)
      return this.#hops.push(hop) - 1
    }
    for (let i = 0; i < TRIES; i++) {
      this.#hand = (this.#hand + 1) % MAX_HOPS
      if (this.#hops[this.#hand]!.flows > 0) continue
      this.#forget(this.#hand)
      return this.#hand
    }
    return -1
  }

  #forget(place: number): void {
    const hop = this.#hops[place]!
    const bucket = bucketOf(hop.name)
    if (this.#buckets[bucket] === place) {
      this.#buckets[bucket] = hop.next
      return
    }
    let before = this.#buckets[bucket]!
    while (this.#hops[before]!.next !== place) before = this.#hops[before]!.next
    this.#hops[before]!.next = hop.next
  }
}

function bucketOf(name: Address): number {
  return name.w3 & (BUCKETS - 1)
}

function nameOf(relay: Address, proxy: Address, into: Address): Address {
  const high = proxy.hash(relay.hash(0x5bd1e995))
  const low = relay.hash(proxy.hash(0x1b873593) ^ high)
  return into.set(DISCARD_PREFIX, 0, high, low, relay.port)
}
