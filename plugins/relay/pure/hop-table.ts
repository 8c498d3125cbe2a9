/**
 * The previous hops of datagrams that came through another relay: which relay sent them, and the address
 * that the client sent to there. Each pair has a number behind those of our own public sockets, so that a flow's key is
 * the same few bits, and a name, an address out of 100::/64 (RFC 6666, nobody's) that transceivers are told instead of
 * the client's. The name follows from the pair alone: a relay that has restarted, or a neighbour, gives it the same.
 *
 * The pairs lie in a memory of their own, which outlives the worker that writes it, as a `RelayMemory` does; others may
 * read meanwhile.
 */

import { Address } from '../../../core/index.ts'
import { ADDRESS_WORDS, getAddress, isAddress, putAddress } from './address-words.ts'
import { HashIndex } from './hash-index.ts'
import { DISCARD_PREFIX, nameOf } from './hop-names.ts'
import { HopShares } from './hop-shares.ts'

/** Pairs at a time: sixteen ports of each relay, for each of its addresses. */
export const MAX_HOPS = 4_096
/** Pairs looked at for one without flows, when all places are taken. */
const TRIES = 64
const BUCKETS = 8_192

/** The header's words: places that were ever taken, and pairs that there have been. */
const TAKEN = 0
const PAIRS = 1
const HEADER_WORDS = 16
/** A record's: two addresses, two words of its name, which pair it is (0 while it is none), its flows, a link. */
const RELAY = 0
const PROXY = ADDRESS_WORDS
const HIGH = 10
const LOW = 11
const PAIR = 12
const FLOWS = 13
const NEXT = 14
const HOP_WORDS = 16

/** Where clients send to; neither address changes. */
export interface Place {
  /** What they send to. */
  readonly proxy: Address
  /** What transceivers and the recovery store know that by. */
  readonly name: Address
}

/** A pair as it was read; another pair in its place is another object, since others keep these. */
class Hop implements Place {
  readonly pair: number
  readonly relay = new Address()
  readonly proxy = new Address()
  readonly name = new Address()

  constructor(words: Int32Array, at: number) {
    this.pair = words[at + PAIR]!
    getAddress(words, at + RELAY, this.relay)
    getAddress(words, at + PROXY, this.proxy)
    this.name.set(DISCARD_PREFIX, 0, words[at + HIGH]!, words[at + LOW]!, this.relay.port)
  }
}

/** Previous hops by number, `base` being the first; those below are our own public sockets. */
export class HopTable {
  readonly base: number
  readonly #own: readonly Place[]
  readonly #words: Int32Array
  readonly #index: HashIndex
  readonly #hops: (Hop | undefined)[] = []
  readonly #scratch = new Address()
  readonly #other = new Address()
  readonly #shares = new HopShares()
  #hand = 0

  /** New memory; what of it nothing was written to costs nothing. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * (HEADER_WORDS + MAX_HOPS * HOP_WORDS + BUCKETS))
  }

  /** `locals` are the public addresses as clients know them. One table writes a memory, others may read it. */
  constructor(locals: readonly Address[], memory = HopTable.memory()) {
    this.base = locals.length
    this.#own = locals.map((address) => ({ proxy: address, name: address }))
    this.#words = new Int32Array(memory)
    const start = HEADER_WORDS + MAX_HOPS * HOP_WORDS
    this.#index = new HashIndex(this.#words, { start, mask: BUCKETS - 1 }, NEXT)
    this.#share()
  }

  /** Places that were ever taken. */
  get taken(): number {
    return this.#words[TAKEN]!
  }

  /** Whether a number stands for a hop. */
  isHop(local: number): boolean {
    return local >= this.base
  }

  /** The number of a pair, or -1 when it has none yet. */
  find(relay: Address, proxy: Address): number {
    const at = this.#named(nameOf(relay, proxy, this.#scratch))
    return at !== 0 && this.#is(at, relay, proxy) ? this.#numberOf(at) : -1
  }

  /**
   * Gives a pair that has none a number; -1 when every place that its relay may have has flows. A change, as `changing`
   * says.
   */
  add(relay: Address, proxy: Address): number {
    const words = this.#words
    const name = nameOf(relay, proxy, this.#scratch)
    const named = this.#named(name)
    // Two pairs of one name do not happen by chance, and a relay that looks for them finds its own.
    if (named !== 0 && !this.#forget(named)) return -1
    const at = this.#place(relay)
    if (at === 0) return -1
    putAddress(words, at + RELAY, relay)
    putAddress(words, at + PROXY, proxy)
    words[at + HIGH] = name.w2
    words[at + LOW] = name.w3
    words[at + PAIR] = words[PAIRS] = (words[PAIRS]! + 1) | 0 || 1
    this.#index.add(name.w3, at)
    this.#shares.take(relay)
    return this.#numberOf(at)
  }

  /** The number of the hop that has this name, or -1. */
  byName(name: Address): number {
    const at = this.#named(name)
    return at === 0 ? -1 : this.#numberOf(at)
  }

  /** The relay that answers to a hop go to; not to be changed. */
  relayOf(local: number): Address {
    return this.#hop(local).relay
  }

  /** What the clients of a socket or a hop send to; not to be changed. */
  proxyOf(local: number): Address {
    return this.placeOf(local).proxy
  }

  /** What transceivers and the recovery store know a socket or a hop by; not to be changed. */
  nameOf(local: number): Address {
    return this.placeOf(local).name
  }

  /** Both of them. */
  placeOf(local: number): Place {
    return this.isHop(local) ? this.#hop(local) : this.#own[local]!
  }

  /** A flow has begun, or ended. */
  began(local: number): void {
    if (this.isHop(local)) this.#words[this.#at(local) + FLOWS]!++
  }
  ended(local: number): void {
    if (this.isHop(local)) this.#words[this.#at(local) + FLOWS]!--
  }

  /** Makes the table whole after its writer died in a change; `locals` has the number in each flow's key. */
  repair(locals: Iterable<number>): void {
    const words = this.#words
    this.#index.clear()
    for (let place = 0; place < this.taken; place++) {
      const at = this.#at(this.base + place)
      words[at + FLOWS] = 0
      if (words[at + PAIR] !== 0) this.#index.add(words[at + LOW]!, at)
    }
    for (const local of locals) this.began(local)
    this.#share()
  }

  /** Its record of a name, or 0. */
  #named({ w0, w1, w2, w3, port }: Address): number {
    if (w0 !== DISCARD_PREFIX || w1 !== 0) return 0
    const words = this.#words
    let at = this.#index.first(w3)
    while (at !== 0 && !(words[at + LOW] === w3 && words[at + HIGH] === w2 && words[at + RELAY + 4] === port))
      at = words[at + NEXT]!
    return at
  }

  #is(at: number, relay: Address, proxy: Address): boolean {
    return isAddress(this.#words, at + RELAY, relay) && isAddress(this.#words, at + PROXY, proxy)
  }

  #at(local: number): number {
    return HEADER_WORDS + (local - this.base) * HOP_WORDS
  }

  #numberOf(at: number): number {
    return this.base + (at - HEADER_WORDS) / HOP_WORDS
  }

  #hop(local: number): Hop {
    const place = local - this.base
    const at = this.#at(local)
    const known = this.#hops[place]
    if (known !== undefined && known.pair === this.#words[at + PAIR]) return known
    const hop = new Hop(this.#words, at)
    // One after another, so that it stays an array without holes.
    while (this.#hops.length <= place) this.#hops.push(undefined)
    this.#hops[place] = hop
    return hop
  }

  /** A record without flows: a new one, or one whose pair is forgotten; 0 when there is none for this relay. */
  #place(relay: Address): number {
    const { taken } = this
    const isUsedUp = this.#shares.isUsedUp(relay)
    if (taken < MAX_HOPS && !isUsedUp) {
      this.#words[TAKEN] = taken + 1
      return this.#at(this.base + taken)
    }
    for (let i = 0; i < TRIES; i++) {
      this.#hand = (this.#hand + 1) % taken
      const at = this.#at(this.base + this.#hand)
      if (!(isUsedUp && !this.#isOf(at, relay)) && this.#forget(at)) return at
    }
    return 0
  }

  /** Whether a record's pair is of a relay that has one share with this one. */
  #isOf(at: number, relay: Address): boolean {
    return this.#words[at + PAIR] !== 0 && this.#shares.isOne(this.#relayAt(at), relay)
  }

  #relayAt(at: number): Address {
    return getAddress(this.#words, at + RELAY, this.#other)
  }

  /** Forgets a record's pair, if there is one; false when it has flows. */
  #forget(at: number): boolean {
    const words = this.#words
    if (words[at + FLOWS]! > 0) return false
    if (words[at + PAIR] === 0) return true
    this.#index.remove(words[at + LOW]!, at)
    words[at + PAIR] = 0
    this.#shares.give(this.#relayAt(at))
    return true
  }

  /** Counts anew what each relay has. */
  #share(): void {
    this.#shares.clear()
    for (let place = 0; place < this.taken; place++) {
      const at = this.#at(this.base + place)
      if (this.#words[at + PAIR] !== 0) this.#shares.take(this.#relayAt(at))
    }
  }
}
