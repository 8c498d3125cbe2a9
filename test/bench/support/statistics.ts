/** The little statistics that benchmarks need. */

/** The middle value; of an even number the upper one of the two in the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
