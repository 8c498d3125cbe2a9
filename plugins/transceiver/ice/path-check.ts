/**
 * Our own Binding request to a new client address (a path check, as in RFC 9000 §8.2): whether it is
 * under way, when its next try is due, and which answer ends it. Pure: time, randomness and sending are the owner's.
 */

import { type StunMessage, TRANSACTION_ID } from '../../../core/index.ts'
import type { Generation } from './generation.ts'

/** When the three tries are due, in milliseconds after the start. */
export const TRIES: readonly number[] = [0, 150, 450]

/** How long an answer to any of them counts, in milliseconds after the start. */
const CHECK_LIFE = 2000

/** The check of one path. All tries are one transaction, so a late answer to an early try counts. */
export class PathCheck {
  /** The 12-byte transaction id; meaningful while `pending`. */
  readonly id: Buffer = Buffer.alloc(TRANSACTION_ID)
  #generation: Generation | undefined
  #startedAt = 0
  #tries = 0

  /** Begins a check with 12 random bytes, under the credentials by which the client showed itself. */
  start(now: number, id: Uint8Array, generation: Generation): void {
    this.id.set(id.subarray(0, TRANSACTION_ID))
    this.#generation = generation
    this.#startedAt = now
    this.#tries = 0
  }

  stop(): void {
    this.#generation = undefined
  }

  /** The credentials of the check under way, or undefined. */
  get pending(): Generation | undefined {
    return this.#generation
  }

  expired(now: number): boolean {
    return now - this.#startedAt >= CHECK_LIFE
  }

  /** Whether a try should be sent now. */
  due(now: number): boolean {
    return this.#tries < TRIES.length && now - this.#startedAt >= TRIES[this.#tries]!
  }

  /** A try was sent. */
  sent(): void {
    this.#tries++
  }

  /** Whether a success response is to this check, and by one who knows the client's password. */
  answeredBy(response: StunMessage): boolean {
    const generation = this.#generation
    if (!generation) return false
    const at = response.transactionAt
    if (this.id.compare(response.bytes, at, at + TRANSACTION_ID) !== 0) return false
    return response.hasIntegrity(generation.remoteKey)
  }
}
