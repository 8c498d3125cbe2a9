/** How long datagrams were on their way: a histogram of times whose buckets are never wider than 1.6%. Pure. */

/** Buckets of each power of two. */
const PARTS = 64
const BITS = 6
/** Times are counted in tenths of a microsecond. */
const UNITS_PER_MS = 10_000

/** Times in milliseconds go in, quantiles in microseconds come out. Nothing is allocated after construction. */
export class Histogram {
  readonly #counts = new Uint32Array(PARTS * (32 - BITS + 1))
  total = 0

  clear(): void {
    this.#counts.fill(0)
    this.total = 0
  }

  add(milliseconds: number): void {
    const units = Math.min(Math.max(0, milliseconds * UNITS_PER_MS), 0x7fffffff) | 0
    this.#counts[bucketOf(units)]!++
    this.total++
  }

  /** The time in microseconds that this part of all times does not exceed; 0 when there are none. */
  quantile(part: number): number {
    let seen = 0
    for (let i = 0; i < this.#counts.length; i++) {
      seen += this.#counts[i]!
      if (seen > 0 && seen >= part * this.total) return (beginOf(i) / UNITS_PER_MS) * 1000
    }
    return 0
  }
}

function bucketOf(units: number): number {
  if (units < PARTS) return units
  const power = 31 - Math.clz32(units)
  return (power - BITS + 1) * PARTS + ((units >>> (power - BITS)) & (PARTS - 1))
}

function beginOf(bucket: number): number {
  if (bucket < PARTS) return bucket
  const power = Math.floor(bucket / PARTS) + BITS - 1
  return (PARTS + (bucket % PARTS)) * 2 ** (power - BITS)
}
