/**
 * What a receiver counts of one RTP source, and what it reports of it: loss, jitter, sequence cycles (RFC 3550
 * A.1, A.3, A.8), and the delays round trips are reckoned from (§6.4.1). Pure: time is an input.
 */

import type { ReportBlock } from './rtcp.ts'

/** Opus' RTP clock, whatever the rate it codes at (RFC 7587 §4.1), in ticks per millisecond. */
export const TICKS_PER_MS = 48

/** Counts one source. `reset` when another source takes its place. */
export class ReceiveStats {
  received = 0
  /** Sequence numbers received for the first time or again, as they unwrap: cycles in the bits above 16. */
  #base = 0
  #highest = 0
  #expectedBefore = 0
  #receivedBefore = 0
  #jitter = 0
  #transit = 0
  #senderReport = 0
  #senderReportAt = 0

  /** Forgets everything. */
  reset(): void {
    this.received = 0
    this.#base = 0
    this.#highest = 0
    this.#expectedBefore = 0
    this.#receivedBefore = 0
    this.#jitter = 0
    this.#senderReport = 0
    this.#senderReportAt = 0
  }

  /** A packet came at `now`. Duplicates and late ones count as received, as the RFC has it. */
  packet(now: number, sequence: number, timestamp: number): void {
    const transit = (Math.round(now * TICKS_PER_MS) - timestamp) | 0
    if (this.received === 0) {
      this.#base = sequence
      this.#highest = sequence
    } else {
      const ahead = ((sequence - this.#highest) << 16) >> 16
      if (ahead > 0) this.#highest += ahead
      this.#jitter += (Math.abs((transit - this.#transit) | 0) - this.#jitter) / 16
    }
    this.#transit = transit
    this.received++
  }

  /** A sender report came at `now`; `ntpMiddle` as `readRtcp` gives it. */
  senderReport(now: number, ntpMiddle: number): void {
    this.#senderReport = ntpMiddle
    this.#senderReportAt = now
  }

  /** Packets that should have come and did not; negative when duplicates outnumber them. */
  get lost(): number {
    return this.received === 0 ? 0 : this.#highest - this.#base + 1 - this.received
  }

  get jitterMs(): number {
    return this.#jitter / TICKS_PER_MS
  }

  /** Fills `into` with all but its ssrc and begins the next interval; false when nothing has been received. */
  report(now: number, into: ReportBlock): boolean {
    if (this.received === 0) return false
    const expected = this.#highest - this.#base + 1
    const expectedNow = expected - this.#expectedBefore
    const lostNow = expectedNow - (this.received - this.#receivedBefore)
    this.#expectedBefore = expected
    this.#receivedBefore = this.received
    into.fractionLost = lostNow > 0 ? Math.min(255, Math.floor((lostNow * 256) / expectedNow)) : 0
    into.cumulativeLost = expected - this.received
    into.highestSequence = this.#highest >>> 0
    into.jitter = Math.floor(this.#jitter)
    into.lastSenderReport = this.#senderReport
    into.delaySinceLastSenderReport =
      this.#senderReport === 0 ? 0 : Math.round(((now - this.#senderReportAt) * 65536) / 1000)
    return true
  }
}

/**
 * The round trip in milliseconds that a report block about us shows when it comes at `ntpMiddle` (1/65536 s), or
 * undefined when it answers no sender report of ours, or claims to have held it longer than it can have.
 */
export function roundTripMs(ntpMiddle: number, block: ReportBlock): number | undefined {
  if (block.lastSenderReport === 0) return undefined
  const ticks = (ntpMiddle - block.lastSenderReport - block.delaySinceLastSenderReport) | 0
  return ticks < 0 ? undefined : (ticks * 1000) / 65536
}
