/**
 * How many spans a relay makes: so many a second, whatever reaches it. Anybody can replay a ufrag and open flows with
 * it; that must fill no collector, and must not push out the spans of calls that are real. Time is an input.
 */

import { CALL_SPANS_PER_SECOND, OPEN_SPANS_PER_SECOND } from './limits.ts'

/** What a span tells of; `opened` takes nobody's word for it, the others had a success or the store's answer. */
export type SpanKind = 'opened' | 'confirmed' | 'recovered' | 'ended'

/** One second's worth at a time, `opened` apart from the others. */
export class SpanBudget {
  /** Spans that were not made, by what they would have told of. */
  readonly leftOut: Record<SpanKind, number> = { opened: 0, confirmed: 0, recovered: 0, ended: 0 }
  #second = Number.NEGATIVE_INFINITY
  #opened = 0
  #others = 0

  /** True when there is room for one more; otherwise it is counted as left out. */
  take(now: number, kind: SpanKind): boolean {
    if (now - this.#second >= 1000) {
      this.#second = now
      this.#opened = this.#others = 0
    }
    const fits =
      kind === 'opened' ? this.#opened++ < OPEN_SPANS_PER_SECOND : this.#others++ < CALL_SPANS_PER_SECOND
    if (!fits) this.leftOut[kind]++
    return fits
  }
}
