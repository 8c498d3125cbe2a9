/** Counts the client addresses of one ufrag, each once, in however many places it is met. Used again and again. */

import type { Address } from '../../../core/index.ts'
import { CLIENTS_PER_UFRAG } from './limits.ts'
import { FLOW_KEY, FLOW_W0 } from './records.ts'
import { isClient, isSameClient } from './ufrag-holders.ts'

/** What of a flow says who its client is: its first words. */
const CLIENT_WORDS = FLOW_KEY + 1

/** A count that stops at CLIENTS_PER_UFRAG. */
export class ClientCensus {
  readonly #words = new Int32Array(CLIENTS_PER_UFRAG * CLIENT_WORDS)
  #size = 0
  #isKnown = false

  /** Begins anew. */
  begin(): void {
    this.#size = 0
    this.#isKnown = false
  }

  /** The client of a flow is one of them; `client` is the one that asks to be. */
  count(words: Int32Array, flow: number, client: Address): void {
    if (isClient(words, flow, client)) this.#isKnown = true
    const end = this.#size * CLIENT_WORDS
    for (let at = 0; at < end; at += CLIENT_WORDS) if (isSameClient(this.#words, at, words, flow)) return
    if (this.#size === CLIENTS_PER_UFRAG) return
    for (let i = FLOW_W0; i < CLIENT_WORDS; i++) this.#words[end + i] = words[flow + i]!
    this.#size++
  }

  /** There may be any number of others. */
  fill(): void {
    this.#size = CLIENTS_PER_UFRAG
  }

  /** Whether the one that asks is among them, or there is room for one more. */
  get admits(): boolean {
    return this.#isKnown || this.#size < CLIENTS_PER_UFRAG
  }
}
