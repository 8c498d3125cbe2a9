/** The turns' latency in figures: the median, the last one, and what the median is made of. */

import { figure } from './stats.js'

/** Draws them into a description list. */
export class LatencyPanel {
  #figures
  #count

  constructor(list, count) {
    this.#count = count
    this.#figures = {
      median: figure(list, 'Median', false),
      last: figure(list, 'Last turn', false),
      notice: figure(list, 'Its pause', false),
      answer: figure(list, 'Its answer', false),
    }
    this.show(undefined, [])
  }

  /** `latency` as latencyOf gives it. */
  show(latency, turns) {
    const { median, last, notice, answer } = this.#figures
    const count = latency?.count
    this.#count.textContent = latency ? `of ${count === 1 ? '1 turn' : `${count} turns`}` : ''
    const newest = turns.findLast((turn) => turn.latency)?.latency
    median.show(latency?.totalMs, 'ms', 'you → sound')
    last.show(newest?.totalMs, 'ms', 'you → sound')
    notice.show(latency?.noticeMs, 'ms', 'you → noticed')
    answer.show(latency?.answerMs, 'ms', 'noticed → sound')
  }
}
