/** One ufrag that was met: what it decoded to, who uses it, and how much of it is unconfirmed. */

import type { Address, Route } from '../../../core/index.ts'
import type { DropReason } from './drop-reasons.ts'
import { CLIENTS_PER_UFRAG, MAX_UFRAG, UNCONFIRMED_PER_SECOND } from './limits.ts'
import type { Linked } from './linked-list.ts'

/** A ufrag's entry in the table; reused for another ufrag once nobody holds it. */
export class Ufrag implements Linked<Ufrag> {
  older: Ufrag | undefined
  newer: Ufrag | undefined
  /** The next entry of the same bucket. */
  next: Ufrag | undefined
  hash = 0
  /** Where it leads, or undefined together with why it leads nowhere. */
  route: Route | undefined
  refusal: DropReason | undefined
  /** When it is forgotten unless a flow holds it. */
  until = 0
  /** Routes of flows that hold it. */
  holders = 0
  readonly #bytes = new Uint8Array(MAX_UFRAG)
  #length = 0
  readonly #clients: Address[] = []
  readonly #uses: number[] = []
  #windowAt = Number.NEGATIVE_INFINITY
  #spent = 0

  /** Becomes the entry of bytes[start, end), at most MAX_UFRAG long, unheld and unspent. */
  reset(bytes: Uint8Array, start: number, end: number, hash: number): void {
    for (let i = start; i < end; i++) this.#bytes[i - start] = bytes[i]!
    this.#length = end - start
    this.hash = hash
    this.route = undefined
    this.refusal = undefined
    this.#windowAt = Number.NEGATIVE_INFINITY
    this.#spent = 0
  }

  /** Whether it is the ufrag in bytes[start, end). */
  is(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start !== this.#length) return false
    // From the end: ufrags of one codec begin alike (version, key id).
    for (let i = this.#length - 1; i >= 0; i--) if (bytes[start + i] !== this.#bytes[i]) return false
    return true
  }

  /** Whether `client` may use it: it does already, or fewer than CLIENTS_PER_UFRAG others do. */
  admits(client: Address): boolean {
    return this.#clients.length < CLIENTS_PER_UFRAG || this.#indexOf(client) >= 0
  }

  /** Counts one more use by `client`, which `admits` was asked about. */
  addClient(client: Address): void {
    const i = this.#indexOf(client)
    if (i >= 0) {
      this.#uses[i]!++
      return
    }
    this.#clients.push(client)
    this.#uses.push(1)
  }

  /** Takes back one use by `client`. */
  removeClient(client: Address): void {
    const i = this.#indexOf(client)
    if (i < 0 || --this.#uses[i]! > 0) return
    const lastClient = this.#clients.pop()!
    const lastUses = this.#uses.pop()!
    if (i === this.#clients.length) return
    this.#clients[i] = lastClient
    this.#uses[i] = lastUses
  }

  /** Spends one unconfirmed packet; false when this second's are spent. */
  spend(now: number): boolean {
    if (now - this.#windowAt >= 1_000) {
      this.#windowAt = now
      this.#spent = 0
    }
    if (this.#spent >= UNCONFIRMED_PER_SECOND) return false
    this.#spent++
    return true
  }

  #indexOf(client: Address): number {
    for (let i = 0; i < this.#clients.length; i++) if (this.#clients[i]!.equals(client)) return i
    return -1
  }
}
