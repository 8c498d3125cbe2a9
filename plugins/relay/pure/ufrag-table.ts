/**
 * The ufrags that flows use, and a bounded memory of others met lately, good and bad: none is decoded twice while it
 * is remembered. A flood of new ones recycles the idle entries and never touches one that a flow holds.
 */

import type { Address, Route } from '../../../core/index.ts'
import type { DropReason } from './drop-reasons.ts'
import { BAD_UFRAG_MS, GOOD_UFRAG_MS, IDLE_UFRAGS } from './limits.ts'
import { LinkedList } from './linked-list.ts'
import { Ufrag } from './ufrag.ts'

/** Ufrags by their bytes. */
export class UfragTable {
  readonly #buckets: (Ufrag | undefined)[]
  readonly #mask: number
  readonly #idle = new LinkedList<Ufrag>()
  readonly #seed: number
  readonly #capacity: number

  /** `seed` is secret, so that nobody can aim at one bucket; `capacity` bounds the idle entries. */
  constructor(seed: number, capacity = IDLE_UFRAGS) {
    this.#seed = seed
    this.#capacity = capacity
    const size = 2 ** Math.ceil(Math.log2(capacity * 4))
    this.#buckets = new Array<Ufrag | undefined>(size).fill(undefined)
    this.#mask = size - 1
  }

  /** How many entries no flow holds. */
  get idle(): number {
    return this.#idle.size
  }

  /** The entry of bytes[start, end), or undefined when it is not known or no longer; an idle one is the newest then. */
  find(now: number, bytes: Uint8Array, start: number, end: number): Ufrag | undefined {
    const hash = this.#hash(bytes, start, end)
    let entry = this.#buckets[hash & this.#mask]
    while (entry && !(entry.hash === hash && entry.is(bytes, start, end))) entry = entry.next
    if (entry === undefined || entry.holders > 0) return entry
    this.#idle.remove(entry)
    if (entry.until > now) {
      this.#idle.push(entry)
      return entry
    }
    this.#unlink(entry)
    return undefined
  }

  /** Remembers what bytes[start, end), not yet in the table and at most MAX_UFRAG long, leads to. */
  add(
    now: number,
    bytes: Uint8Array,
    start: number,
    end: number,
    route: Route | undefined,
    refusal: DropReason | undefined,
  ): Ufrag {
    const entry = this.#spare()
    const hash = this.#hash(bytes, start, end)
    entry.reset(bytes, start, end, hash)
    entry.route = route && { ...route, address: route.address.clone(), session: route.session.slice() }
    entry.refusal = refusal
    entry.until = now + (refusal === undefined ? GOOD_UFRAG_MS : BAD_UFRAG_MS)
    entry.next = this.#buckets[hash & this.#mask]
    this.#buckets[hash & this.#mask] = entry
    this.#idle.push(entry)
    return entry
  }

  /** One more route holds the entry, for `client`. */
  hold(entry: Ufrag, client: Address): void {
    if (entry.holders++ === 0) this.#idle.remove(entry)
    entry.addClient(client)
  }

  /** One route fewer holds it. The unheld entry stays remembered as the newest of the idle ones. */
  release(entry: Ufrag, client: Address): void {
    entry.removeClient(client)
    if (--entry.holders > 0) return
    this.#idle.push(entry)
    if (this.#idle.size > this.#capacity) this.#evict()
  }

  #spare(): Ufrag {
    return this.#idle.size < this.#capacity ? new Ufrag() : this.#evict()
  }

  #evict(): Ufrag {
    const entry = this.#idle.oldest!
    this.#idle.remove(entry)
    this.#unlink(entry)
    return entry
  }

  #unlink(entry: Ufrag): void {
    const at = entry.hash & this.#mask
    let before = this.#buckets[at]
    if (before === entry) this.#buckets[at] = entry.next
    else {
      while (before!.next !== entry) before = before!.next
      before!.next = entry.next
    }
    entry.next = undefined
  }

  /** FNV-1a under the seed, stirred at the end so that the low bits depend on every byte. */
  #hash(bytes: Uint8Array, start: number, end: number): number {
    let h = this.#seed ^ 0x811c9dc5
    for (let i = start; i < end; i++) h = Math.imul(h ^ bytes[i]!, 0x01000193)
    h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
    return h ^ (h >>> 13)
  }
}
