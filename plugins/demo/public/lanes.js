/**
 * The conversation as two lanes in time, yours above and the edge's below: a block for each speech, a line for the wait
 * before an answer, a mark where one was cut off. It moves on with the clock, and shows the whole call when that is over.
 */

import { clock, NAMES } from './words.js'

const WINDOW_MS = 30_000
/** Who wants little motion sees it move this often. */
const STILL_MS = 1000

const still = matchMedia('(prefers-reduced-motion: reduce)')

/** The lanes inside an element. */
export class Lanes {
  #strip
  #from
  #to
  #blocks = new Map()
  #windowMs = WINDOW_MS
  #movedAt = Number.NEGATIVE_INFINITY

  constructor(element) {
    const view = part(element, 'view')
    for (const [who, name] of Object.entries(NAMES)) {
      part(view, 'ground').dataset.who = who
      const label = part(element, 'side')
      label.dataset.who = who
      label.textContent = name
    }
    this.#strip = part(view, 'strip')
    const axis = part(element, 'axis')
    this.#from = part(axis, 'from')
    this.#to = part(axis, 'to')
    this.clear()
  }

  clear() {
    this.#strip.replaceChildren()
    this.#blocks.clear()
    this.#windowMs = WINDOW_MS
    this.#movedAt = Number.NEGATIVE_INFINITY
    this.#move(0)
  }

  /** Draws the turns as they are `now`; only what goes on is drawn anew unless there is something new. */
  draw(turns, now, isNew) {
    if (still.matches && !isNew && now - this.#movedAt < STILL_MS) return
    this.#movedAt = now
    this.#move(now)
    for (const turn of turns) {
      if (turn.kind !== 'speech' || (!isNew && turn.endMs !== undefined)) continue
      const known = this.#blocks.get(turn.id)
      const block = known ?? this.#add(turn)
      if (block.turn !== turn || turn.endMs === undefined) this.#place(block, turn, now)
      block.turn = turn
    }
  }

  /** The whole call at once. */
  showAll(now) {
    this.#windowMs = Math.max(WINDOW_MS, now)
    for (const { turn, ...block } of this.#blocks.values()) this.#place(block, turn, now)
    this.#move(now)
  }

  #move(now) {
    const from = Math.max(0, now - this.#windowMs)
    this.#strip.style.transform = `translateX(${-this.#share(from)}%)`
    this.#from.textContent = clock(from)
    this.#to.textContent = clock(from + this.#windowMs)
  }

  #add(turn) {
    const speech = part(this.#strip, 'speech')
    speech.dataset.who = turn.who
    const block = { speech, wait: part(this.#strip, 'wait') }
    this.#blocks.set(turn.id, block)
    return block
  }

  #place({ speech, wait }, turn, now) {
    const { startMs, endMs = now, latency, cut } = turn
    speech.style.left = `${this.#share(startMs)}%`
    speech.style.width = `${this.#share(Math.max(0, endMs - startMs))}%`
    speech.toggleAttribute('data-cut', cut !== undefined)
    wait.hidden = latency === undefined
    if (latency === undefined) return
    wait.style.left = `${this.#share(startMs - latency.totalMs)}%`
    wait.style.width = `${this.#share(latency.totalMs)}%`
  }

  #share(ms) {
    return (100 * ms) / this.#windowMs
  }
}

function part(parent, name) {
  const element = parent.appendChild(document.createElement('div'))
  element.className = name
  return element
}
