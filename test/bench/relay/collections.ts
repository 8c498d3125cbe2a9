/**
 * Counts garbage collections in what `node --trace-gc` prints, of all threads. The main thread is the one that is heard
 * of first, since it starts the others.
 */

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** `[pid:isolate] 123 ms: Scavenge 8.0 (10.0) -> …`; a full collection is Mark-Compact, or Mark-sweep by older names. */
const COLLECTION = /^\[\d+:(0x[0-9a-f]+)\]\s+\d+ ms: (\S+)/

/** How many so far. */
export interface Collections {
  /** Of all threads. */
  scavenges: number
  /** Full ones of the threads that forward, and of the main thread, which does not. */
  markSweeps: number
  mainMarkSweeps: number
  /** The last full ones, as Node prints them; each thread has an address of its own. */
  readonly full: string[]
}

/** Full collections that are kept. */
const KEPT = 20

/** Counts from here on. */
export function countCollections(output: Readable): Collections {
  const counts: Collections = { scavenges: 0, markSweeps: 0, mainMarkSweeps: 0, full: [] }
  let main: string | undefined
  createInterface({ input: output }).on('line', (line) => {
    const [, thread, kind] = COLLECTION.exec(line) ?? []
    if (kind === undefined) return
    main ??= thread
    if (kind === 'Scavenge') counts.scavenges++
    else {
      if (thread === main) counts.mainMarkSweeps++
      else counts.markSweeps++
      counts.full.push(line)
      if (counts.full.length > KEPT) counts.full.shift()
    }
  })
  return counts
}
