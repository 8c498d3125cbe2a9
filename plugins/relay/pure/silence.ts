/**
 * How long transceivers have been silent. A relay that drains leaves by this, not by what clients send: a call that is
 * up brings a report every second, and one that has ended brings nothing, however long its client goes on. Time is an
 * input, and the packet path has no part in it: whoever looks brings the counter along.
 */

/** What is known of the last packet from a transceiver. */
export class Silence {
  #seen = 0
  #heardAt = Number.NEGATIVE_INFINITY

  /** Notes how many packets have come down so far; to be called about once a second. */
  note(now: number, packetsDown: number): void {
    if (packetsDown === this.#seen) return
    this.#seen = packetsDown
    this.#heardAt = now
  }

  /** Milliseconds since anything was noted; Infinity when nothing ever was. */
  lasts(now: number): number {
    return now - this.#heardAt
  }
}
