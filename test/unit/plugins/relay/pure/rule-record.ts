/** What clients asked for and servers answered, as the rules need it: by client, way and server. */

import assert from 'node:assert/strict'
import { UNCONFIRMED_MS, UNCONFIRMED_PER_SECOND } from '../../../../../plugins/relay/pure/limits.ts'

/** What one client by one way and one server have had to do with each other. */
export interface Pair {
  /** When a request was last forwarded, when a success last made or kept the route live, when it was recovered. */
  asked: number
  success: number
  recovered: number
}

const NEVER = Number.NEGATIVE_INFINITY

/** The record of one relay. */
export class RuleRecord {
  readonly #pairs = new Map<string, Pair>()
  /** By ufrag, when unconfirmed packets of it went out. */
  readonly #spent = new Map<string, number[]>()

  /** The pair of a client by a way and a server. */
  pair(client: number, way: number, server: string): Pair {
    const key = `${client} ${way} ${server}`
    const pair = this.#pairs.get(key) ?? { asked: NEVER, success: NEVER, recovered: NEVER }
    this.#pairs.set(key, pair)
    return pair
  }

  /** All of them. */
  *pairs(): Iterable<{ client: number; way: number; server: string; pair: Pair }> {
    for (const [key, pair] of this.#pairs) {
      const [client, way, server] = key.split(' ')
      yield { client: Number(client), way: Number(way), server: server!, pair }
    }
  }

  /** An unconfirmed packet of a ufrag went out; fails when there were too many lately. */
  spend(now: number, ufrag: string): void {
    const times = (this.#spent.get(ufrag) ?? []).filter((at) => now - at < 1_000)
    this.#spent.set(ufrag, [...times, now])
    // Windows of a second begin with a packet, so two of them may touch.
    assert.ok(times.length < 2 * UNCONFIRMED_PER_SECOND, 'bounded unconfirmed packets')
  }
}

/** It has had a success, or was recovered, so lately that it may still carry. */
export function carries({ success, recovered }: Pair, now: number): boolean {
  // A route lives as long as its flow, and that as long as any other of its routes has successes.
  return success > NEVER || now - recovered < UNCONFIRMED_MS
}

/** A request went there so lately that an answer may still come. */
export function waits({ asked }: Pair, now: number): boolean {
  return now - asked < UNCONFIRMED_MS + 1
}
