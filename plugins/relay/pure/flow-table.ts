/**
 * The bounded table of flows. Unconfirmed flows end by age and make room when the table is full, oldest first;
 * confirmed ones end only for want of success responses. Time is an input.
 */

import type { Address } from '../../../core/index.ts'
import { Flow } from './flow.ts'
import { CONFIRMED_MS, UNCONFIRMED_MS } from './limits.ts'
import { LinkedList } from './linked-list.ts'

/** How to make a table. */
export interface FlowTableOptions {
  readonly maxFlows: number
  /** Secret, so that nobody can aim at one bucket. */
  readonly seed: number
  /** Called for each flow that ended, to let go of what its routes hold. */
  onEnd(flow: Flow): void
}

/** Flows by (local socket, client). */
export class FlowTable {
  /** Unconfirmed flows pushed out of a full table. */
  evicted = 0
  readonly #options: FlowTableOptions
  readonly #buckets: (Flow | undefined)[]
  readonly #mask: number
  // Each list is in the order in which its flows expire.
  readonly #unconfirmed = new LinkedList<Flow>()
  readonly #confirmed = new LinkedList<Flow>()

  constructor(options: FlowTableOptions) {
    this.#options = options
    const size = 2 ** Math.ceil(Math.log2(options.maxFlows))
    this.#buckets = new Array<Flow | undefined>(size).fill(undefined)
    this.#mask = size - 1
  }

  get confirmed(): number {
    return this.#confirmed.size
  }

  get unconfirmed(): number {
    return this.#unconfirmed.size
  }

  /** The flow of a client at a socket, or undefined; one whose time is up ends here. */
  find(now: number, local: number, client: Address): Flow | undefined {
    const hash = client.hash(this.#options.seed ^ local)
    let flow = this.#buckets[hash & this.#mask]
    while (flow && !(flow.hash === hash && flow.local === local && flow.client.equals(client))) {
      flow = flow.next
    }
    if (flow === undefined || flow.until > now) return flow
    this.end(flow)
    return undefined
  }

  /**
   * Opens an unconfirmed flow for a client that has none. Undefined when the table is full of confirmed flows or,
   * with `evict` false, full at all.
   */
  open(now: number, local: number, client: Address, evict: boolean): Flow | undefined {
    if (!this.#makeRoom(now, evict)) return undefined
    const hash = client.hash(this.#options.seed ^ local)
    const flow = new Flow(local, client.clone(), hash, now, now + UNCONFIRMED_MS)
    flow.next = this.#buckets[hash & this.#mask]
    this.#buckets[hash & this.#mask] = flow
    this.#unconfirmed.push(flow)
    return flow
  }

  /** A success response came through: the flow is confirmed and lives on from now. */
  confirm(now: number, flow: Flow): void {
    const from = flow.isConfirmed ? this.#confirmed : this.#unconfirmed
    from.remove(flow)
    flow.isConfirmed = true
    flow.until = now + CONFIRMED_MS
    this.#confirmed.push(flow)
  }

  /** Takes a flow out. */
  end(flow: Flow): void {
    const list = flow.isConfirmed ? this.#confirmed : this.#unconfirmed
    list.remove(flow)
    this.#unlink(flow)
    this.#options.onEnd(flow)
  }

  /** Ends flows whose time is up, at most `limit` of them, so that no call to it takes long. */
  sweep(now: number, limit: number): void {
    for (const list of [this.#unconfirmed, this.#confirmed]) {
      while (limit > 0 && list.oldest && list.oldest.until <= now) {
        this.end(list.oldest)
        limit--
      }
    }
  }

  /**
   * Up to about `limit` flows from bucket `from` on, and the bucket to go on from, or undefined at the end. A bucket
   * is never cut, so a page may be a few flows longer.
   */
  page(from: number, limit: number): { flows: Flow[]; next: number | undefined } {
    const flows: Flow[] = []
    let at = Math.max(0, from)
    for (; at < this.#buckets.length && flows.length < limit; at++) {
      for (let flow = this.#buckets[at]; flow; flow = flow.next) flows.push(flow)
    }
    return { flows, next: at < this.#buckets.length ? at : undefined }
  }

  #makeRoom(now: number, evict: boolean): boolean {
    if (this.#unconfirmed.size + this.#confirmed.size < this.#options.maxFlows) return true
    const unconfirmed = this.#unconfirmed.oldest
    const confirmed = this.#confirmed.oldest
    if (unconfirmed && unconfirmed.until <= now) this.end(unconfirmed)
    else if (confirmed && confirmed.until <= now) this.end(confirmed)
    else if (unconfirmed && evict) {
      this.evicted++
      this.end(unconfirmed)
    } else return false
    return true
  }

  #unlink(flow: Flow): void {
    const at = flow.hash & this.#mask
    let before = this.#buckets[at]
    if (before === flow) this.#buckets[at] = flow.next
    else {
      while (before!.next !== flow) before = before!.next
      before!.next = flow.next
    }
    flow.next = undefined
  }
}
