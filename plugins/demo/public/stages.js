/** The stages from click to first sound: when each was reached, and how that is drawn. */

import { length } from './words.js'

/** In the order in which a call goes through them. */
export const STAGES = [
  ['microphone', 'Microphone granted'],
  ['offer', 'Offer made'],
  ['answer', 'Answer received'],
  ['ice', 'ICE connected'],
  ['dtls', 'DTLS connected'],
  ['channel', 'Data channel open'],
  ['sound', 'First sound heard'],
]

/** Notes when each stage was reached, in milliseconds since the click, and shows it. */
export class Stages {
  #start = 0
  #rows = new Map()
  #total
  /** Reached at a time that says nothing of the edge: nobody had spoken before. */
  #late = new Set()
  /** Stage → milliseconds since the click. */
  reached = {}

  constructor(list, total) {
    this.#total = total
    for (const [name, title] of STAGES) this.#rows.set(name, row(list, name, title))
  }

  /** The click. */
  start() {
    this.#start = performance.now()
    this.reached = {}
    this.#late.clear()
    this.#total.textContent = ''
    this.#draw(true)
  }

  /** Milliseconds since the click. */
  get elapsed() {
    return performance.now() - this.#start
  }

  /** A stage is reached; only the first time counts. `waited`: for the person, and not for the edge. */
  reach(name, { waited = false } = {}) {
    if (name in this.reached) return
    if (waited) this.#late.add(name)
    this.reached[name] = this.elapsed
    this.#draw(true)
  }

  /** Nothing more will come. */
  stop() {
    this.#draw(false)
  }

  #draw(waiting) {
    const timed = Object.entries(this.reached).filter(([name]) => !this.#late.has(name))
    const end = Math.max(1, ...timed.map(([, at]) => at))
    let before = 0
    let next = waiting
    for (const [name, { item, span, ms }] of this.#rows) {
      const at = this.reached[name]
      item.toggleAttribute('data-reached', at !== undefined)
      item.toggleAttribute('data-next', at === undefined && next)
      if (at === undefined) next = false
      item.toggleAttribute('data-waited', this.#late.has(name))
      span.hidden = at === undefined || this.#late.has(name)
      if (at === undefined) ms.textContent = '–'
      else ms.textContent = this.#late.has(name) ? length(at) : `${Math.round(at)} ms`
      if (span.hidden) continue
      const from = Math.min(before, at)
      span.style.left = `${(from / end) * 100}%`
      span.style.width = `${((at - from) / end) * 100}%`
      before = at
    }
    if (this.reached.sound !== undefined && !this.#late.has('sound'))
      this.#total.textContent = `${Math.round(this.reached.sound)} ms`
  }
}

function row(list, name, title) {
  const item = list.appendChild(document.createElement('li'))
  item.dataset.stage = name
  const [label, track, ms] = ['name', 'track', 'ms'].map((part) => {
    const element = item.appendChild(document.createElement('span'))
    element.className = part
    return element
  })
  label.textContent = title
  ms.textContent = '–'
  const span = track.appendChild(document.createElement('span'))
  span.className = 'span'
  span.hidden = true
  return { item, span, ms }
}
