/** What is asked of Redis, each a command with a time limit, its outcome counted and told to the link. */

import { Redis } from 'ioredis'
import type { Entries } from './entry.ts'
import { type FailedOutcome, toFault } from './fault.ts'
import type { Link } from './link.ts'
import type { Instruments } from './metrics.ts'
import { TTL_MS, type Write } from './pure/write-queue.ts'

/**
 * Deletes a key if its value begins as told. Sent whole each time: it is short and rare, while a script known by its
 * hash is forgotten by a server that restarts or fails over, and then has to be repeated out of order.
 */
const FORGET = `
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`

/** The words for a write. */
type Order = readonly ['set', string, Buffer, 'PX', number] | readonly ['eval', string, 1, string, Buffer]

/** The commands over one link. */
export class Commands {
  readonly #link: Link
  readonly #entries: Entries
  readonly #instruments: Instruments

  constructor(link: Link, entries: Entries, instruments: Instruments) {
    this.#link = link
    this.#entries = entries
    this.#instruments = instruments
  }

  /** Reads a key. Rejects when Redis did not give an answer. */
  async read(key: string): Promise<Buffer | null> {
    const startedAt = performance.now()
    try {
      const value = await this.#link.client.getBuffer(key)
      this.#link.worked('reads')
      return value
    } catch (error) {
      const fault = toFault(error)
      this.#instruments.ended('get', fault.outcome)
      this.#link.failed('reads', fault)
      throw error
    } finally {
      this.#instruments.took('get', performance.now() - startedAt)
    }
  }

  /** Writes a batch at once, in order, and waits for all answers. Never rejects: a write that fails is counted. */
  async write(now: number, batch: readonly Write[]): Promise<void> {
    this.#instruments.batch(batch.length)
    const startedAt = performance.now()
    const orders = batch.map((write) => this.#order(now, write))
    const errors = await this.#send(orders).catch((error: unknown) => orders.map(() => error))
    this.#instruments.took('batch', performance.now() - startedAt)
    let worked = 0
    for (const [i, error] of errors.entries()) {
      const command = batch[i]!.type === 'remember' ? 'set' : 'forget'
      if (error === null) worked++
      this.#instruments.ended(command, error === null ? 'ok' : this.#failed(error))
    }
    if (worked > 0) this.#link.worked('writes')
  }

  #failed(error: unknown): FailedOutcome {
    const fault = toFault(error)
    this.#link.failed('writes', fault)
    return fault.outcome
  }

  #order(now: number, write: Write): Order {
    const key = this.#entries.key(write.identity)
    if (write.type === 'forget') return ['eval', FORGET, 1, key, this.#entries.beginning(write.transceiver)]
    // It counts from when the flow was noted, however long the write had to wait.
    const remaining = Math.max(1, Math.ceil(TTL_MS - (now - write.at)))
    return ['set', key, this.#entries.value(write.identity, write.route), 'PX', remaining]
  }

  /** The error of each, or null. */
  async #send(orders: readonly Order[]): Promise<unknown[]> {
    const { client } = this.#link
    if (client instanceof Redis) {
      const pipeline = client.pipeline()
      for (const order of orders) queue(pipeline, order)
      const results = await pipeline.exec()
      return orders.map((_, i) => results?.[i]?.[0] ?? null)
    }
    // A cluster's pipeline must stay with one node; these go to each key's own, without waiting in between.
    const results = await Promise.allSettled(orders.map((order) => queue(client, order)))
    return results.map((result) => (result.status === 'rejected' ? result.reason : null))
  }
}

/** What both a client and a pipeline can be told. */
interface Sink<R> {
  set(key: string, value: Buffer, unit: 'PX', ms: number): R
  eval(script: string, keys: 1, key: string, beginning: Buffer): R
}

function queue<R>(sink: Sink<R>, order: Order): R {
  return order[0] === 'set'
    ? sink.set(order[1], order[2], order[3], order[4])
    : sink.eval(order[1], order[2], order[3], order[4])
}
