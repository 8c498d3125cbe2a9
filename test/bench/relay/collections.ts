/** Counts garbage collections in what `node --trace-gc` prints, of all threads. */

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** `[pid:isolate] 123 ms: Scavenge 8.0 (10.0) -> …`; a full collection is Mark-Compact, or Mark-sweep by older names. */
const COLLECTION = /^\[\d+:(0x[0-9a-f]+)\]\s+\d+ ms: (\S+)/

/** How many so far. */
export interface Collections {
  scavenges: number
  markSweeps: number
  /** The last full ones, as Node prints them; each thread has an address of its own. */
  readonly full: string[]
}

/** Full collections that are kept. */
const KEPT = 20

/** Counts from here on. */
export function countCollections(output: Readable): Collections {
  const counts: Collections = { scavenges: 0, markSweeps: 0, full: [] }
  createInterface({ input: output }).on('line', (line) => {
    const kind = COLLECTION.exec(line)?.[2]
    if (kind === undefined) return
    if (kind === 'Scavenge') counts.scavenges++
    else {
      counts.markSweeps++
      counts.full.push(line)
      if (counts.full.length > KEPT) counts.full.shift()
    }
  })
  return counts
}
