/**
 * The two hash tables under `Routes`. A look-up works on the bytes and words of a datagram and allocates nothing.
 * Pure.
 */

import type { Path } from './ice/path.ts'
import { clonePath, sameEnds } from './ice/path.ts'

/** Who is reached by one ufrag. */
export interface UfragEntry<S> {
  readonly ufrag: Buffer
  readonly session: S
  next: UfragEntry<S> | undefined
}

/** Sessions by our ufrag. */
export class UfragTable<S> {
  readonly #entries = new Map<number, UfragEntry<S>>()
  readonly #seed: number
  #size = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  get size(): number {
    return this.#size
  }

  find(bytes: Uint8Array, start: number, end: number): UfragEntry<S> | undefined {
    let entry = this.#entries.get(this.#hash(bytes, start, end))
    while (entry && !isAt(bytes, start, end, entry.ufrag)) entry = entry.next
    return entry
  }

  /** Adds an entry; the ufrag must not be there. */
  add(ufrag: Buffer, session: S): UfragEntry<S> {
    const hash = this.#hash(ufrag, 0, ufrag.length)
    const entry: UfragEntry<S> = { ufrag, session, next: this.#entries.get(hash) }
    this.#entries.set(hash, entry)
    this.#size++
    return entry
  }

  remove(entry: UfragEntry<S>): void {
    if (unlink(this.#entries, this.#hash(entry.ufrag, 0, entry.ufrag.length), entry)) this.#size--
  }

  /** FNV-1a. */
  #hash(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.#seed ^ 0x811c9dc5
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
    return hash
  }
}

/** Who is reached at one client address, by one address of ours. */
export interface Place<S> {
  readonly path: Path
  incumbent: S
  /** The incumbent's client was shown to receive here. */
  incumbentConfirmed: boolean
  other: S | undefined
  otherConfirmed: boolean
  /** Claims the place while both of them are confirmed. */
  claimant: S | undefined
  next: Place<S> | undefined
}

/** Places by client and local address; relays do not matter. */
export class PlaceTable<S> {
  readonly #places = new Map<number, Place<S>>()
  readonly #seed: number
  #size = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  get size(): number {
    return this.#size
  }

  find(path: Path): Place<S> | undefined {
    let place = this.#places.get(this.#hash(path))
    while (place && !sameEnds(place.path, path)) place = place.next
    return place
  }

  /** Adds a place; the path must have none. */
  add(path: Path, incumbent: S): Place<S> {
    const hash = this.#hash(path)
    const place: Place<S> = {
      path: clonePath(path),
      incumbent,
      incumbentConfirmed: false,
      other: undefined,
      otherConfirmed: false,
      claimant: undefined,
      next: this.#places.get(hash),
    }
    this.#places.set(hash, place)
    this.#size++
    return place
  }

  remove(place: Place<S>): void {
    if (unlink(this.#places, this.#hash(place.path), place)) this.#size--
  }

  #hash(path: Path): number {
    return path.client.hash(this.#seed) ^ Math.imul(path.local.hash(this.#seed), 0x01000193)
  }
}

function isAt(bytes: Uint8Array, start: number, end: number, ufrag: Buffer): boolean {
  if (end - start !== ufrag.length) return false
  for (let i = 0; i < ufrag.length; i++) if (bytes[start + i] !== ufrag[i]) return false
  return true
}

/** Takes an entry out of its chain; false when it is not in it. */
function unlink<E extends { next: E | undefined }>(entries: Map<number, E>, hash: number, entry: E): boolean {
  const head = entries.get(hash)
  if (head === entry) {
    if (entry.next) entries.set(hash, entry.next)
    else entries.delete(hash)
    return true
  }
  for (let at = head; at; at = at.next) {
    if (at.next !== entry) continue
    at.next = entry.next
    return true
  }
  return false
}
