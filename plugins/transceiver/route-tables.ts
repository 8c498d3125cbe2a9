/**
 * The two hash tables under `Routes`. A look-up works on the bytes and words of a datagram and allocates nothing.
 * Pure.
 */

import type { Path } from './ice/path.ts'
import { clonePath, sameEnds } from './ice/path.ts'

/** What stands in a table: with its hash, and linked to the next one that has the same. */
interface Chained<E> {
  readonly hash: number
  next: E | undefined
}

/** Entries by their hashes. */
class HashTable<E extends Chained<E>> {
  protected readonly seed: number
  readonly #heads = new Map<number, E>()
  #size = 0

  constructor(seed: number) {
    this.seed = seed
  }

  get size(): number {
    return this.#size
  }

  /** Takes an entry out; nothing happens when it is not in the table. */
  remove(entry: E): void {
    const head = this.#heads.get(entry.hash)
    if (head === entry) {
      if (entry.next) this.#heads.set(entry.hash, entry.next)
      else this.#heads.delete(entry.hash)
      this.#size--
      return
    }
    for (let at = head; at; at = at.next) {
      if (at.next !== entry) continue
      at.next = entry.next
      this.#size--
      return
    }
  }

  /** The first entry of a chain. */
  protected first(hash: number): E | undefined {
    return this.#heads.get(hash)
  }

  protected insert(entry: E): E {
    entry.next = this.first(entry.hash)
    this.#heads.set(entry.hash, entry)
    this.#size++
    return entry
  }
}

/** Who is reached by one ufrag. */
export interface UfragEntry<S> extends Chained<UfragEntry<S>> {
  readonly ufrag: Buffer
  readonly session: S
}

/** Sessions by our ufrag. */
export class UfragTable<S> extends HashTable<UfragEntry<S>> {
  find(bytes: Uint8Array, start: number, end: number): UfragEntry<S> | undefined {
    let entry = this.first(this.#hash(bytes, start, end))
    while (entry && !isAt(bytes, start, end, entry.ufrag)) entry = entry.next
    return entry
  }

  /** Adds an entry; the ufrag must not be there. */
  add(ufrag: Buffer, session: S): UfragEntry<S> {
    return this.insert({ ufrag, session, hash: this.#hash(ufrag, 0, ufrag.length), next: undefined })
  }

  /** FNV-1a. */
  #hash(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.seed ^ 0x811c9dc5
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
    return hash
  }
}

/** Who is reached at one client address, by one address of ours. */
export interface Place<S> extends Chained<Place<S>> {
  readonly path: Path
  incumbent: S
  /** The incumbent's client was shown to receive here. */
  incumbentConfirmed: boolean
  other: S | undefined
  otherConfirmed: boolean
  /** Claims the place while both of them are confirmed. */
  claimant: S | undefined
}

/** Places by client and local address; relays do not matter. */
export class PlaceTable<S> extends HashTable<Place<S>> {
  find(path: Path): Place<S> | undefined {
    let place = this.first(this.#hash(path))
    while (place && !sameEnds(place.path, path)) place = place.next
    return place
  }

  /** Adds a place; the path must have none. */
  add(path: Path, incumbent: S): Place<S> {
    return this.insert({
      path: clonePath(path),
      incumbent,
      incumbentConfirmed: false,
      other: undefined,
      otherConfirmed: false,
      claimant: undefined,
      hash: this.#hash(path),
      next: undefined,
    })
  }

  #hash(path: Path): number {
    return path.client.hash(this.seed) ^ Math.imul(path.local.hash(this.seed), 0x01000193)
  }
}

function isAt(bytes: Uint8Array, start: number, end: number, ufrag: Buffer): boolean {
  if (end - start !== ufrag.length) return false
  for (let i = 0; i < ufrag.length; i++) if (bytes[start + i] !== ufrag[i]) return false
  return true
}
