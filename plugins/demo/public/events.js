/** The data channel's events as a list that a person can open and read, and the text that becomes an event. */

const KEEP = 200

/** What a person typed, as the texts to send: a JSON object as it is, anything else as a user's message, to be answered. */
export function toEvents(typed) {
  if (isObject(parse(typed))) return [typed]
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: typed }] }
  const events = [{ type: 'conversation.item.create', item }, { type: 'response.create' }]
  return events.map((event) => JSON.stringify(event))
}

/** Lists events, the newest last; the oldest leave when there are many. */
export class EventLog {
  #list
  #count
  #total = 0

  constructor(list, count) {
    this.#list = list
    this.#count = count
  }

  clear() {
    this.#list.replaceChildren()
    this.#total = 0
    this.#count.textContent = ''
  }

  /** `way` is `sent` or `received`, `at` milliseconds since the click. */
  add(way, data, at) {
    const follows = this.#list.scrollTop + this.#list.clientHeight >= this.#list.scrollHeight - 8
    this.#list.appendChild(entry(way, data, at))
    if (this.#list.children.length > KEEP) this.#list.firstElementChild.remove()
    if (follows || way === 'sent') this.#list.scrollTop = this.#list.scrollHeight
    this.#total += 1
    this.#count.textContent = this.#total === 1 ? '1 event' : `${this.#total} events`
  }
}

/** The newest event of the edge's, or undefined. */
export function lastReceived(events) {
  return parse(events.findLast(({ way }) => way === 'received')?.data)
}

function entry(way, data, at) {
  const item = document.createElement('li')
  item.className = way
  const details = item.appendChild(document.createElement('details'))
  const summary = details.appendChild(document.createElement('summary'))
  const text = typeof data === 'string' ? data : `${data.byteLength ?? data.size} bytes`
  const parsed = parse(text)
  const arrow = summary.appendChild(document.createElement('span'))
  arrow.className = 'way'
  arrow.append(way === 'sent' ? '↑' : '↓')
  const spoken = arrow.appendChild(document.createElement('span'))
  spoken.className = 'unseen'
  spoken.textContent = way
  summary.appendChild(document.createElement('code')).textContent = parsed?.type ?? text
  summary.appendChild(document.createElement('time')).textContent = `${(at / 1000).toFixed(2)} s`
  details.appendChild(document.createElement('pre')).textContent =
    parsed === undefined ? text : JSON.stringify(parsed, null, 2)
  return item
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
