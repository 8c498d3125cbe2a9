/**
 * Follows the encrypted records that OpenSSL sends, so that another writer can go on behind it. Pure.
 *
 * OpenSSL counts its explicit nonces up from a random number that it does not tell; they are in the records. A
 * writer that counts on from the last one repeats none, as long as all of OpenSSL's were counted up one by one,
 * which is checked here.
 */

import { epochOf, RECORD_HEADER, recordEnd, sequenceOf, uint32 } from './dtls-record.ts'

/** Where a writer stands: what the next record has. */
export interface WritePosition {
  readonly sequence: number
  /** The explicit nonce's two halves, unsigned. */
  readonly nonceHigh: number
  readonly nonceLow: number
}

/** One connection's records, first to last. */
export class SentRecords {
  /** What follows the last record; undefined before the first, and for good after one that was out of turn. */
  next: WritePosition | undefined
  #isBroken = false

  /** Looks at a datagram of whole records that OpenSSL made. Show it all of them, in their order. */
  note(datagram: Uint8Array): void {
    for (let at = 0; at < datagram.length && !this.#isBroken; at = recordEnd(datagram, at)) {
      if (epochOf(datagram, at) !== 0) this.#noteRecord(datagram, at)
    }
  }

  #noteRecord(datagram: Uint8Array, at: number): void {
    const expected = this.next
    const sequence = sequenceOf(datagram, at)
    const high = uint32(datagram, at + RECORD_HEADER)
    const low = uint32(datagram, at + RECORD_HEADER + 4)
    this.#isBroken =
      epochOf(datagram, at) !== 1 ||
      sequence !== (expected ? expected.sequence : 0) ||
      (expected !== undefined && (high !== expected.nonceHigh || low !== expected.nonceLow))
    this.next = this.#isBroken ? undefined : positionAfter(sequence, high, low)
  }
}

/** The position behind a record; the nonce is a counter of 64 bits that begins again at 0. */
export function positionAfter(sequence: number, nonceHigh: number, nonceLow: number): WritePosition {
  const low = (nonceLow + 1) >>> 0
  return {
    sequence: sequence + 1,
    nonceHigh: low === 0 ? (nonceHigh + 1) >>> 0 : nonceHigh,
    nonceLow: low,
  }
}
