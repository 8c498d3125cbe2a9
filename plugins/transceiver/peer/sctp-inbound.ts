/**
 * The receiving half of an SCTP association (RFC 9260 §6.2 and §6.5 to §6.9, RFC 3758 §3.6): which TSNs have come, and
 * messages put together from their fragments and handed on in their streams' order.
 *
 * Everything it holds is bounded, whatever the peer sends. It stands in for werift's, which sorts TSNs as strings, holds
 * without bound, and keeps a finished message back when another stream's fragment lies between. Pure.
 */

import { BEGIN, END, type Fragment, type Run, Runs, UNORDERED } from './sctp-fragments.ts'

export type { Fragment } from './sctp-fragments.ts'

/**
 * What became of a fragment. `dropped`: not taken, the peer will send it again. The last three are beyond any well-behaved
 * peer: the association must end.
 */
export type Receipt =
  | 'taken'
  | 'duplicate'
  | 'dropped'
  | 'message_too_large'
  | 'protocol_violation'
  | 'overflow'

/** What an inbound half may hold. */
export interface InboundLimits {
  /** The receive window, in bytes. */
  readonly window: number
  readonly fragments: number
  readonly streams: number
  readonly messageSize: number
}

interface Stream {
  next: number
  readonly ready: Map<number, Run>
}

const MAX_GAPS = 64
const MAX_DUPLICATES = 16

/** The receiving half. `deliver` gets each message once, in order within its stream. */
export class SctpInbound {
  /** All TSNs up to here have come. */
  cumulative = 0
  started = false
  readonly #limits: InboundLimits
  readonly #deliver: (streamId: number, protocol: number, data: Buffer) => void
  /** TSNs past `cumulative` that have come. */
  readonly #ahead = new Set<number>()
  #duplicates: number[] = []
  readonly #runs = new Runs()
  readonly #streams = new Map<number, Stream>()
  #bytes = 0
  #fragments = 0

  constructor(limits: InboundLimits, deliver: (streamId: number, protocol: number, data: Buffer) => void) {
    this.#limits = limits
    this.#deliver = deliver
  }

  /** Begins at the peer's initial TSN, forgetting everything. */
  start(initialTsn: number): void {
    this.started = true
    this.cumulative = (initialTsn - 1) >>> 0
    this.#bytes = 0
    this.#fragments = 0
    this.#duplicates = []
    for (const held of [this.#ahead, this.#runs, this.#streams]) held.clear()
  }

  /** Bytes the peer may still send. */
  get window(): number {
    return Math.max(0, this.#limits.window - this.#bytes)
  }

  /** Fragments held back. */
  get held(): number {
    return this.#fragments
  }

  /** Takes a fragment, and delivers what it completes. */
  receive(fragment: Fragment): Receipt {
    const distance = (fragment.tsn - this.cumulative) | 0
    if (distance <= 0 || this.#ahead.has(fragment.tsn)) {
      if (this.#duplicates.length < MAX_DUPLICATES) this.#duplicates.push(fragment.tsn)
      return 'duplicate'
    }
    const { fragments, window } = this.#limits
    if (distance > fragments) return 'dropped'
    if (this.#fragments >= fragments || this.#bytes >= window) {
      // Only the next one can free what is held; and a peer that goes on far past the window never will.
      if (distance !== 1) return 'dropped'
      if (this.#fragments >= 2 * fragments || this.#bytes >= 2 * window) return 'overflow'
    }
    this.#mark(fragment.tsn)
    return this.#assemble(fragment)
  }

  /** The peer gives up on everything up to `cumulative` (RFC 3758 §3.6); `streams` are [stream, sequence] pairs. */
  forward(cumulative: number, streams: readonly (readonly [number, number])[]): Receipt {
    if (((cumulative - this.cumulative) | 0) <= 0) return 'duplicate'
    this.cumulative = cumulative
    for (const tsn of this.#ahead) if (((tsn - cumulative) | 0) <= 0) this.#ahead.delete(tsn)
    this.#advance()
    for (const run of this.#runs.removeUpTo(cumulative)) this.#release(run)
    for (const [streamId, sequence] of streams) {
      const stream = this.#stream(streamId)
      if (!stream) return 'overflow'
      this.#skip(stream, (sequence + 1) & 0xffff)
    }
    return 'taken'
  }

  /** The peer's stream starts again at sequence number 0 (RFC 6525 §5.2.2). */
  resetStream(streamId: number): void {
    for (const run of this.#streams.get(streamId)?.ready.values() ?? []) this.#release(run)
    this.#streams.delete(streamId)
  }

  /** Gap blocks as offsets from `cumulative`, ascending, and the duplicates since last asked (RFC 9260 §3.3.4). */
  takeReport(): { gaps: [number, number][]; duplicates: number[] } {
    const duplicates = this.#duplicates
    this.#duplicates = []
    const gaps: [number, number][] = []
    const offsets = [...this.#ahead].map((tsn) => (tsn - this.cumulative) >>> 0).sort((a, b) => a - b)
    for (const offset of offsets) {
      const last = gaps.at(-1)
      if (last && last[1] === offset - 1) last[1] = offset
      else if (gaps.length === MAX_GAPS) break
      else gaps.push([offset, offset])
    }
    return { gaps, duplicates }
  }

  #mark(tsn: number): void {
    this.#ahead.add(tsn)
    this.#advance()
  }

  #advance(): void {
    for (let next = (this.cumulative + 1) >>> 0; this.#ahead.delete(next); next = (next + 1) >>> 0) {
      this.cumulative = next
    }
  }

  #assemble(fragment: Fragment): Receipt {
    this.#bytes += fragment.data.length
    this.#fragments++
    const run = this.#runs.add(fragment)
    if (!run) return 'protocol_violation'
    if (run.bytes > this.#limits.messageSize) return 'message_too_large'
    if (!(run.first.flags & BEGIN && run.last.flags & END)) return 'taken'
    this.#runs.remove(run)
    if (fragment.flags & UNORDERED) {
      this.#hand(run)
      return 'taken'
    }
    const stream = this.#stream(fragment.streamId)
    if (!stream) return 'overflow'
    const distance = ((fragment.sequence - stream.next) << 16) >> 16
    if (distance < 0 || stream.ready.has(fragment.sequence)) this.#release(run)
    else {
      stream.ready.set(fragment.sequence, run)
      this.#drain(stream)
    }
    return 'taken'
  }

  #stream(streamId: number): Stream | undefined {
    let stream = this.#streams.get(streamId)
    if (!stream && this.#streams.size < this.#limits.streams) {
      stream = { next: 0, ready: new Map() }
      this.#streams.set(streamId, stream)
    }
    return stream
  }

  #drain(stream: Stream): void {
    for (let run = stream.ready.get(stream.next); run; run = stream.ready.get(stream.next)) {
      stream.ready.delete(stream.next)
      stream.next = (stream.next + 1) & 0xffff
      this.#hand(run)
    }
  }

  /** Hands on what is whole before sequence number `next`, and goes on there. */
  #skip(stream: Stream, next: number): void {
    const behind = (sequence: number): number => ((sequence - next) << 16) >> 16
    if (behind(stream.next) >= 0) return
    const whole = [...stream.ready.keys()].filter((s) => behind(s) < 0).sort((a, b) => behind(a) - behind(b))
    for (const sequence of whole) {
      const run = stream.ready.get(sequence)!
      stream.ready.delete(sequence)
      this.#hand(run)
    }
    stream.next = next
    this.#drain(stream)
  }

  #hand(run: Run): void {
    this.#release(run)
    const { streamId, protocol, data } = run.first
    const whole = run.fragments.length === 1 ? data : Buffer.concat(run.fragments.map((f) => f.data))
    this.#deliver(streamId, protocol, whole)
  }

  #release(run: Run): void {
    this.#bytes -= run.bytes
    this.#fragments -= run.fragments.length
  }
}
