/**
 * The ufrags that flows use, and a bounded memory of others met lately, good and bad: none is decoded twice while it
 * is remembered. A flood of new ones recycles the idle entries and never touches one that a flow holds. What holds one
 * is a route, and a ufrag's clients are those of the routes that hold it.
 */

import type { Address } from '../../../core/index.ts'
import { ClientCensus } from './client-census.ts'
import { DROP_REASONS, type DropReason, numberOf } from './drop-reasons.ts'
import { HashIndex } from './hash-index.ts'
import { BAD_UFRAG_MS, CLIENTS_PER_UFRAG, GOOD_UFRAG_MS, IDLE_UFRAGS } from './limits.ts'
import { Pool } from './pool.ts'
import { RecordList } from './record-list.ts'
import {
  HEADER_IDLE,
  HEADER_UFRAG_POOL,
  UFRAG_CLIENTS,
  UFRAG_DIGEST,
  UFRAG_HOLDER,
  UFRAG_IS_HELD,
  UFRAG_IS_USED,
  UFRAG_NEWER,
  UFRAG_NEXT,
  UFRAG_OLDER,
  UFRAG_REFUSAL,
  UFRAG_SESSION,
  UFRAG_STATE,
  UFRAG_UNTIL,
  UFRAG_UPSTREAM,
} from './records.ts'
import type { RelayMemory } from './relay-memory.ts'
import { writeSession } from './session-words.ts'
import type { UfragDigest } from './ufrag-digest.ts'
import { flowOfHolder, hasClient, hasClientOf, holderLink } from './ufrag-holders.ts'
import { spendUnconfirmed } from './ufrag-second.ts'
import type { Upstreams } from './upstreams.ts'
import { WorkerUfrags } from './worker-ufrags.ts'

const ONE_CLIENT = 1 << UFRAG_CLIENTS

/** Ufrags by their digests. */
export class UfragTable {
  readonly pool: Pool
  readonly index: HashIndex
  readonly idleList: RecordList
  readonly #words: Int32Array
  readonly #upstreams: Upstreams
  readonly #capacity: number
  readonly #own: WorkerUfrags
  readonly #others: readonly WorkerUfrags[]
  readonly #census = new ClientCensus()

  /** `capacity` bounds the idle entries; `others` are the memories of the relay's other workers, of the same seed. */
  constructor(
    memory: RelayMemory,
    upstreams: Upstreams,
    capacity = IDLE_UFRAGS,
    others: readonly RelayMemory[] = [],
  ) {
    const { words, layout } = memory
    this.#words = words
    this.#upstreams = upstreams
    this.#capacity = capacity
    this.#own = new WorkerUfrags(memory)
    this.#others = others.map((other) => new WorkerUfrags(other))
    this.pool = new Pool(words, HEADER_UFRAG_POOL, layout.ufrags, UFRAG_NEXT)
    this.index = new HashIndex(words, layout.ufragBuckets, UFRAG_NEXT)
    this.idleList = new RecordList(words, HEADER_IDLE, UFRAG_OLDER, UFRAG_NEWER)
  }

  /** How many entries no flow holds. */
  get idle(): number {
    return this.idleList.size
  }

  /** The entry of a digest, or 0 when it is not known or no longer; an idle one is the newest then. */
  find(now: number, digest: UfragDigest): number {
    let at = this.index.first(digest.words[0]!)
    while (at !== 0 && !this.is(at, digest)) at = this.#words[at + UFRAG_NEXT]!
    if (at === 0 || this.isHeld(at)) return at
    this.idleList.remove(at)
    if (((this.#words[at + UFRAG_UNTIL]! - now) | 0) > 0) {
      this.idleList.push(at)
      return at
    }
    this.#free(at)
    return 0
  }

  /**
   * Remembers what a ufrag, not yet in the table, leads to: an upstream, whose reference it takes over, or 0 and why
   * not. 0 when every place is held; the reference is the caller's then.
   */
  add(
    now: number,
    digest: UfragDigest,
    upstream: number,
    session: Uint8Array | undefined,
    refusal: DropReason | undefined,
  ): number {
    if (this.idleList.size >= this.#capacity) this.dropIdle()
    const at = this.pool.take() || (this.dropIdle() ? this.pool.take() : 0)
    if (at === 0) return 0
    const words = this.#words
    for (let i = 0; i < 4; i++) words[at + UFRAG_DIGEST + i] = digest.words[i]!
    words[at + UFRAG_UPSTREAM] = upstream
    writeSession(words, at + UFRAG_SESSION, session)
    words[at + UFRAG_UNTIL] = now + (refusal === undefined ? GOOD_UFRAG_MS : BAD_UFRAG_MS)
    const code = refusal === undefined ? 0 : numberOf(refusal) + 1
    words[at + UFRAG_STATE] = UFRAG_IS_USED | (code << UFRAG_REFUSAL)
    this.index.add(digest.words[0]!, at)
    this.idleList.push(at)
    return at
  }

  /** Forgets the idle entry that was not asked for the longest; false when there is none. */
  dropIdle(): boolean {
    const oldest = this.idleList.oldest
    if (oldest === 0) return false
    this.idleList.remove(oldest)
    this.#free(oldest)
    return true
  }

  /** Forgets idle entries whose time is up, at most `limit`, as long as the oldest is one. */
  sweep(now: number, limit: number): void {
    for (let n = 0; n < limit; n++) {
      const oldest = this.idleList.oldest
      if (oldest === 0 || ((this.#words[oldest + UFRAG_UNTIL]! - now) | 0) > 0) return
      this.dropIdle()
    }
  }

  /** Whether it is the entry of this digest. */
  is(at: number, digest: UfragDigest): boolean {
    const words = this.#words
    const other = digest.words
    return (
      words[at + UFRAG_DIGEST] === other[0] &&
      words[at + UFRAG_DIGEST + 1] === other[1] &&
      words[at + UFRAG_DIGEST + 2] === other[2] &&
      words[at + UFRAG_DIGEST + 3] === other[3]
    )
  }

  /** Why it leads nowhere, or undefined when it does lead somewhere. */
  refusalOf(at: number): DropReason | undefined {
    const code = this.#words[at + UFRAG_STATE]! >>> UFRAG_REFUSAL
    return code === 0 ? undefined : DROP_REASONS[code - 1]
  }

  /** Whether a route holds it. */
  isHeld(at: number): boolean {
    return (this.#words[at + UFRAG_STATE]! & UFRAG_IS_HELD) !== 0
  }

  /** Whether `client` may use it: it does already, or fewer than CLIENTS_PER_UFRAG others do, whichever worker has them. */
  admits(at: number, client: Address): boolean {
    if (this.#others.length > 0) return this.#allAdmit(at, client)
    return (
      this.clientsOf(at) < CLIENTS_PER_UFRAG ||
      (this.isHeld(at) && hasClient(this.#words, this.#words[at + UFRAG_HOLDER]!, client))
    )
  }

  /** Client addresses that use it. */
  clientsOf(at: number): number {
    return (this.#words[at + UFRAG_STATE]! >>> UFRAG_CLIENTS) & 0xff
  }

  /** A route holds it from now on, in the one of its two places that `holder` says: the route's reference + 0 or 1. */
  hold(at: number, holder: number): void {
    const words = this.#words
    const isFirst = !this.isHeld(at)
    if (isFirst) this.idleList.remove(at)
    const before = isFirst ? 0 : words[at + UFRAG_HOLDER]!
    const isNew = !hasClientOf(words, before, flowOfHolder(words, holder))
    words[holderLink(holder)] = before
    words[at + UFRAG_HOLDER] = holder
    words[at + UFRAG_STATE]! += (isFirst ? UFRAG_IS_HELD : 0) + (isNew ? ONE_CLIENT : 0)
  }

  /** The route no longer holds it. Unheld it stays remembered, for as long as it would have been without flows. */
  release(now: number, at: number, holder: number): void {
    const words = this.#words
    let link = at + UFRAG_HOLDER
    while (words[link] !== holder) link = holderLink(words[link]!)
    words[link] = words[holderLink(holder)]!
    const left = words[at + UFRAG_HOLDER]!
    if (!hasClientOf(words, left, flowOfHolder(words, holder))) words[at + UFRAG_STATE]! -= ONE_CLIENT
    if (left !== 0) return
    words[at + UFRAG_STATE]! &= ~UFRAG_IS_HELD
    // A call may have lasted for so long that its time to be forgotten seems to lie ahead once more.
    if ((words[at + UFRAG_UNTIL]! - now) >>> 0 > GOOD_UFRAG_MS) words[at + UFRAG_UNTIL] = now
    this.idleList.push(at)
    if (this.idleList.size > this.#capacity) this.dropIdle()
  }

  /** Spends one unconfirmed packet; false when this second's are spent, whichever worker did. */
  spend(now: number, at: number): boolean {
    return spendUnconfirmed(now, this.#words, at, this.#others)
  }

  #allAdmit(at: number, client: Address): boolean {
    const census = this.#census
    census.begin()
    this.#own.countClients(at, client, census)
    for (let i = 0; i < this.#others.length; i++) {
      const other = this.#others[i]!
      const there = other.find(this.#words, at)
      if (there !== 0) other.countClients(there, client, census)
    }
    return census.admits
  }

  #free(at: number): void {
    const words = this.#words
    this.index.remove(words[at + UFRAG_DIGEST]!, at)
    words[at + UFRAG_STATE] = 0
    if (words[at + UFRAG_UPSTREAM] !== 0) this.#upstreams.release(words[at + UFRAG_UPSTREAM]!)
    this.pool.give(at)
  }
}
