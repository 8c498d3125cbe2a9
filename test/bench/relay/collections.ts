/** Counts garbage collections in what `node --trace-gc` prints, of all threads. */

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** `[pid:isolate] 123 ms: Scavenge 8.0 (10.0) -> …`; a full collection is Mark-Compact, or Mark-sweep by older names. */
const COLLECTION = /^\[\d+:0x[0-9a-f]+\]\s+\d+ ms: (\S+)/

/** How many so far. */
export interface Collections {
  scavenges: number
  markSweeps: number
}

/** Counts from here on. */
export function countCollections(output: Readable): Collections {
  const counts = { scavenges: 0, markSweeps: 0 }
  createInterface({ input: output }).on('line', (line) => {
    const kind = COLLECTION.exec(line)?.[1]
    if (kind === 'Scavenge') counts.scavenges++
    else if (kind !== undefined) counts.markSweeps++
  })
  return counts
}
