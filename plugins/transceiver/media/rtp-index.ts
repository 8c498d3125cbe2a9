/**
 * The 48-bit index of an RTP packet, of which 16 bits travel (RFC 3711 §3.3.1, appendix A). Pure.
 *
 * Late packets and gaps around the wrap of the sequence number get the index they were sent with, as long as
 * they are within 2^15 of the highest one.
 */

const SEQUENCES = 65536
const HALF = 32768

/**
 * The likeliest index for `sequence` when `highest` is the highest authentic index so far (-1: none, then the
 * rollover counter is 0). -1: it would lie before the stream's beginning.
 */
export function estimateIndex(highest: number, sequence: number): number {
  if (highest < 0) return sequence
  const last = highest % SEQUENCES
  const sameRollover = highest - last + sequence
  const step = sequence - last
  if (step > HALF) return sameRollover - SEQUENCES < 0 ? -1 : sameRollover - SEQUENCES
  return step < -HALF ? sameRollover + SEQUENCES : sameRollover
}

/** The rollover counter of an index. */
export function rolloverOf(index: number): number {
  return Math.floor(index / SEQUENCES)
}
