/**
 * The memory that all state of one relay worker lives in: words in one SharedArrayBuffer, laid out by how many flows it is for.
 * Whoever owns it outlives the worker; another worker attaches to it and goes on. At most 256 bytes a flow from 65,536
 * flows on. One thread writes; others may read at any time what `FlowTable.page`, `WorkerUfrags` and the counters show.
 */

import { EdgeError } from '../../../core/index.ts'
import { IDLE_UFRAGS } from './limits.ts'
import {
  FLOW_WORDS,
  HEADER_IS_SEEDED,
  HEADER_MAGIC,
  HEADER_MAX_FLOWS,
  HEADER_SEED_HIGH,
  HEADER_SEED_LOW,
  HEADER_WORDS,
  ROUTE_WORDS,
  UFRAG_WORDS,
  UPSTREAM_WORDS,
} from './records.ts'

const MAGIC = 0x45524d31
const MAX_FLOWS = 1_048_576

/** Prefixes that the decode budget tells apart, two bytes each. */
export const BUDGET_SLOTS = 4_096

/** Where a table's records are, and how many there is room for. */
export interface Region {
  /** The first record's reference. */
  readonly start: number
  readonly count: number
  /** Words of a record. */
  readonly stride: number
}

/** A hash index: `mask + 1` words, a reference each. */
export interface Buckets {
  readonly start: number
  readonly mask: number
}

interface Layout {
  readonly flowBuckets: Buckets
  readonly ufragBuckets: Buckets
  readonly upstreamBuckets: Buckets
  readonly flows: Region
  readonly routes: Region
  readonly ufrags: Region
  readonly upstreams: Region
  /** The first word of the decode budget. */
  readonly budget: number
  readonly words: number
}

/** Words that threads can share, as a relay's memory is handed from one to another. */
export type SharedWords = Int32Array<SharedArrayBuffer>

/**
 * New memory for so many flows, 1 to 1,048,576; the pages of it that nothing was written to cost nothing. `allocate`
 * gives zeroed bytes that begin at a multiple of eight.
 */
export function relayMemory(maxFlows: number, allocate = plainMemory): SharedWords {
  if (!Number.isInteger(maxFlows) || maxFlows < 1 || maxFlows > MAX_FLOWS) {
    throw new EdgeError('internal', `a relay's memory is for 1 to ${MAX_FLOWS} flows, not ${maxFlows}`)
  }
  const count = layoutOf(maxFlows).words
  const { buffer, byteOffset } = allocate(count * 4)
  const words = new Int32Array(buffer, byteOffset, count)
  words[HEADER_MAGIC] = MAGIC
  words[HEADER_MAX_FLOWS] = maxFlows
  return words
}

/**
 * New memories for so many workers of one relay. They have one seed, an integer below 2^48, so that what one worker knows
 * of a ufrag is found in another's.
 */
export function relayMemories(
  workers: number,
  maxFlows: number,
  seed: number,
  allocate = plainMemory,
): SharedWords[] {
  return Array.from({ length: workers }, () => {
    const words = relayMemory(maxFlows, allocate)
    new RelayMemory(words).plant(seed)
    return words
  })
}

function plainMemory(size: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(size))
}

/** A view of such memory. */
export class RelayMemory {
  readonly words: SharedWords
  readonly floats: Float64Array
  readonly maxFlows: number
  readonly layout: Layout

  /** Throws EdgeError when `words` are no relay's memory. */
  constructor(words: SharedWords) {
    this.words = new Int32Array(words.buffer, words.byteOffset, words.length)
    this.maxFlows = this.words[HEADER_MAX_FLOWS] ?? 0
    this.layout = layoutOf(Math.max(1, this.maxFlows))
    if (this.words[HEADER_MAGIC] !== MAGIC || this.words.length !== this.layout.words) {
      throw new EdgeError('internal', 'this is not the memory of a relay; make it with relayMemory()')
    }
    this.floats = new Float64Array(words.buffer, words.byteOffset, HEADER_WORDS / 2)
  }

  /** Takes the seed, an integer below 2^48, unless the memory has one already: its tables were made with that. */
  plant(seed: number): void {
    if (this.words[HEADER_IS_SEEDED] !== 0) return
    this.words[HEADER_SEED_LOW] = seed
    this.words[HEADER_SEED_HIGH] = Math.floor(seed / 2 ** 32)
    this.words[HEADER_IS_SEEDED] = 1
  }

  /** Whether its secrets are those of another. */
  hasSeedOf({ words }: RelayMemory): boolean {
    const seed = [HEADER_IS_SEEDED, HEADER_SEED_LOW, HEADER_SEED_HIGH]
    return seed.every((word) => this.words[word] === words[word])
  }

  /** A 32-bit secret that follows from the seed; another for each purpose. */
  secret(purpose: number): number {
    let h = Math.imul(this.words[HEADER_SEED_LOW]! ^ Math.imul(purpose + 1, 0x9e3779b1), 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 15) ^ this.words[HEADER_SEED_HIGH]!, 0xc2b2ae35)
    h = Math.imul(h ^ (h >>> 13) ^ this.words[HEADER_SEED_LOW]!, 0x27d4eb2f)
    return h ^ (h >>> 16)
  }
}

/**
 * Twice as many buckets as flows keep chains short. A quarter more routes than flows: only a flow's second one takes
 * from those. Three ufrags for two flows, and those that are remembered besides; an eighth as many transceivers.
 */
function layoutOf(maxFlows: number): Layout {
  let words = HEADER_WORDS
  const take = (count: number): number => {
    const start = words
    // A flow and its route lie in a pair of cache lines.
    words += (count + 31) & ~31
    return start
  }
  const region = (count: number, stride: number): Region => ({ start: take(count * stride), count, stride })
  const buckets = (count: number): Buckets => ({ start: take(count), mask: count - 1 })
  const ufragCount = Math.ceil(maxFlows * 1.5) + IDLE_UFRAGS
  const upstreamCount = Math.min(65_536, Math.max(1_024, maxFlows >> 3))
  return {
    budget: take(BUDGET_SLOTS / 2),
    flowBuckets: buckets(2 * powerOfTwo(maxFlows)),
    ufragBuckets: buckets(powerOfTwo(ufragCount)),
    upstreamBuckets: buckets(powerOfTwo(upstreamCount)),
    flows: region(maxFlows, FLOW_WORDS),
    routes: region(Math.max(16, maxFlows >> 2), ROUTE_WORDS),
    ufrags: region(ufragCount, UFRAG_WORDS),
    upstreams: region(upstreamCount, UPSTREAM_WORDS),
    words,
  }
}

function powerOfTwo(atLeast: number): number {
  return 2 ** Math.ceil(Math.log2(atLeast))
}
