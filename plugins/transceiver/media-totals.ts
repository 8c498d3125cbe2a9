/** What all calls' media counted together: those that have ended, and those that go on. Pure. */

import type { MediaStats } from './media/media-stats.ts'

/** The counters that only grow in a call, and are summed. */
const SUMMED = [
  'packetsReceived',
  'octetsReceived',
  'packetsSent',
  'octetsSent',
  'late',
  'malformed',
  'wrongPayloadType',
  'oldSource',
  'tooFast',
  'concealedMs',
] as const satisfies readonly (keyof MediaStats)[]

/** Sums over calls. `lost` and `peerLost` may shrink in a call, by duplicates: here they keep their highest. */
export type MediaSums = Record<(typeof SUMMED)[number] | 'lost' | 'peerLost', number>

/** Adds calls up; a call is in the sums while it lives and after. */
export class MediaTotals {
  readonly #ended = noSums()
  readonly #highest = new WeakMap<object, { lost: number; peerLost: number }>()

  /** A call has ended; its numbers will not change any more, and it is not in `sum`'s list again. */
  end(stats: Readonly<MediaStats>): void {
    this.#add(this.#ended, stats)
  }

  /** All calls that ended, and these, which go on. */
  sum(live: Iterable<Readonly<MediaStats>>): MediaSums {
    const sums = { ...this.#ended }
    for (const stats of live) this.#add(sums, stats)
    return sums
  }

  #add(sums: MediaSums, stats: Readonly<MediaStats>): void {
    for (const name of SUMMED) sums[name] += stats[name]
    const highest = this.#highest.get(stats) ?? { lost: 0, peerLost: 0 }
    highest.lost = Math.max(highest.lost, stats.lost)
    highest.peerLost = Math.max(highest.peerLost, stats.peerLost ?? 0)
    this.#highest.set(stats, highest)
    sums.lost += highest.lost
    sums.peerLost += highest.peerLost
  }
}

function noSums(): MediaSums {
  return {
    packetsReceived: 0,
    octetsReceived: 0,
    packetsSent: 0,
    octetsSent: 0,
    late: 0,
    malformed: 0,
    wrongPayloadType: 0,
    oldSource: 0,
    tooFast: 0,
    concealedMs: 0,
    lost: 0,
    peerLost: 0,
  }
}
