/** The conversation as a list: when each turn began, whose it was, what was said or how long, and how it came and ended. */

import { clock, length, NAMES, remarks, sentence } from './words.js'

/** A bar as wide as there is room stands for so long, or for the longest turn. */
const WIDEST_MS = 8000
/** What was said is told to screen readers when so much time has passed: then all of it is known. */
const TELL_AFTER_MS = 1500

/** Lists turns, the newest last. */
export class TurnList {
  #list
  #count
  #said
  #rows = new Map()
  #told = 0

  constructor(list, count, said) {
    this.#list = list
    // It scrolls, and holds nothing else that a keyboard could reach.
    list.tabIndex = 0
    this.#count = count
    this.#said = said
  }

  clear() {
    this.#list.replaceChildren()
    this.#rows.clear()
    this.#count.textContent = ''
    this.#said.textContent = ''
    this.#told = 0
  }

  /** Draws what changed, and what goes on. */
  draw(turns, now) {
    const follows = this.#list.scrollTop + this.#list.clientHeight >= this.#list.scrollHeight - 24
    const widest = Math.max(WIDEST_MS, ...turns.map(({ startMs, endMs = now }) => endMs - startMs))
    for (const turn of turns) {
      const row = this.#rows.get(turn.id) ?? this.#add(turn)
      if (row.turn !== turn || row.widest !== widest || turn.endMs === undefined) fill(row, turn, now, widest)
      Object.assign(row, { turn, widest })
    }
    this.#forget(turns[0]?.id)
    if (follows) this.#list.scrollTop = this.#list.scrollHeight
    const cuts = turns.filter(({ cut }) => cut).length
    const counted = turns.length === 1 ? '1 turn' : `${turns.length} turns`
    this.#count.textContent = turns.length === 0 ? '' : cuts > 0 ? `${counted}, ${cuts} cut off` : counted
    this.#tell(turns, now)
  }

  #add(turn) {
    const item = this.#list.appendChild(document.createElement('li'))
    item.dataset.who = turn.who
    const row = { item }
    for (const name of ['time', 'who', 'body', 'long']) row[name] = part(item, name)
    for (const name of ['text', 'bar', 'came', 'cut']) row[name] = part(row.body, name)
    row.who.textContent = NAMES[turn.who]
    this.#rows.set(turn.id, row)
    return row
  }

  #forget(first) {
    for (const [id, { item }] of this.#rows) {
      if (first !== undefined && id >= first) return
      item.remove()
      this.#rows.delete(id)
    }
  }

  #tell(turns, now) {
    for (const turn of turns) {
      if (turn.id <= this.#told) continue
      if (turn.endMs === undefined || now - turn.endMs < TELL_AFTER_MS) return
      this.#told = turn.id
      this.#said.textContent = sentence(turn)
    }
  }
}

function fill({ item, time, text, bar, came, cut, long }, turn, now, widest) {
  const { kind, startMs, endMs = now } = turn
  const spoken = kind === 'speech'
  const says = remarks(turn)
  item.dataset.kind = kind
  time.textContent = clock(startMs)
  item.toggleAttribute('data-open', turn.endMs === undefined)
  item.toggleAttribute('data-cut', turn.cut !== undefined)
  text.hidden = turn.text === ''
  text.textContent = turn.text
  bar.hidden = turn.text !== '' || endMs === startMs
  bar.style.width = `${(100 * (endMs - startMs)) / widest}%`
  came.hidden = says.came === undefined
  came.textContent = says.came ?? ''
  cut.hidden = says.cut === undefined
  cut.textContent = says.cut ?? ''
  long.textContent = spoken && endMs > startMs ? length(Math.max(100, endMs - startMs)) : ''
}

function part(parent, name) {
  const element = parent.appendChild(document.createElement('span'))
  element.className = name
  return element
}
