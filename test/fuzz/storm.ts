/** A storm of bad datagrams into one port, as fast as that port reads them and no faster, so that none is lost. */

import { Prng } from '../../core/testing/prng.ts'
import type { Entrance } from './live-call.ts'
import { Mutator } from './mutator.ts'

/** As many as a socket's buffer holds beside the call's own. */
const BATCH = 40
/** A batch that was not read by then is given up, in milliseconds. */
const PATIENCE_MS = 500

/** What came of a storm. */
export interface StormReport {
  readonly sent: number
  /** Sent, but not read in time. */
  readonly unread: number
}

/** Sends `count` datagrams by the entrances in turn, all of which lead to one port. */
export async function storm(
  entrances: readonly Entrance[],
  count: number,
  seed: number,
): Promise<StormReport> {
  const random = new Prng(seed)
  const mutators = entrances.map((entrance) => new Mutator(random, entrance.good))
  const { port } = entrances[0]!
  let sent = 0
  let unread = 0
  while (sent < count) {
    const before = read(port)
    const batch = Math.min(BATCH, count - sent)
    for (let i = 0; i < batch; i++, sent++) {
      const way = sent % entrances.length
      await entrances[way]!.send(mutators[way]!.next())
    }
    const until = performance.now() + PATIENCE_MS
    while (read(port) < before + batch && performance.now() < until) await new Promise(setImmediate)
    unread += Math.max(0, before + batch - read(port))
  }
  return { sent, unread }
}

function read({ counters }: Entrance['port']): number {
  return counters.received + counters.truncated + counters.receiveErrors
}
