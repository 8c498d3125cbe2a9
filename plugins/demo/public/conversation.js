/** A call's conversation: hears both sides, follows the events, and shows the turns as they come. */

import { Hearing } from './hearing.js'
import { Lanes } from './lanes.js'
import { LatencyPanel } from './latency.js'
import { Listener } from './listener.js'
import { TurnList } from './turn-rows.js'
import { floorOf, latencyOf, NOTHING, step } from './turns.js'

const DRAW_OPEN_MS = 100
/** An answer that is made sooner than this needs no word of its own. */
const THINKING_SHOWS_MS = 300

/** One page's conversation, of one call at a time. */
export class Conversation {
  #lanes
  #list
  #latency
  #onChange
  #listener
  #clock
  #goesOn = false
  #hearing
  #drawn
  #drawnAt = 0
  #floor
  #thinksSince
  /** See turn-list.js. */
  state = NOTHING

  /** `clock` gives milliseconds since the call's click. */
  constructor({ lanes, turns, count, said, latency, latencyCount, clock, onChange }) {
    this.#lanes = new Lanes(lanes)
    this.#list = new TurnList(turns, count, said)
    this.#latency = new LatencyPanel(latency, latencyCount)
    this.#listener = new Listener(clock, (levels) => this.#hear(levels))
    this.#clock = clock
    this.#onChange = onChange
  }

  /** A new call: nothing of the last one is left. */
  start() {
    this.stop()
    this.state = NOTHING
    this.#hearing = { you: new Hearing({ noisy: true }), edge: new Hearing({ noisy: false }) }
    this.#goesOn = true
    this.#lanes.clear()
    this.#list.clear()
    this.#draw()
    const frame = () => {
      if (!this.#goesOn) return
      this.#draw()
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  }

  /** Hears a stream as `who`, 'you' or 'edge', from now on. */
  listenTo(context, who, stream) {
    this.#listener.connect(context, who, stream)
  }

  /** An event on the data channel; `way` is `sent` or `received`. */
  follow(way, data) {
    this.#take({ type: way, event: parse(data), at: this.#clock() })
  }

  /** The call is over; what was said stays. */
  stop() {
    if (!this.#goesOn) return
    this.#goesOn = false
    this.#listener.disconnect()
    this.#take({ type: 'over', at: this.#clock() })
    this.#draw()
    this.#lanes.showAll(this.#clock())
  }

  #hear({ at, ...levels }) {
    if (!this.#goesOn) return
    for (const who of ['you', 'edge']) {
      const heard = this.#hearing[who].hear(at, levels[who])
      if (heard) this.#take({ ...heard, who })
    }
  }

  #take(input) {
    this.state = step(this.state, { ...input, youLoudAt: this.#hearing?.you.loudAt })
  }

  #draw() {
    const now = this.#clock()
    const isNew = this.#drawn !== this.state
    this.#lanes.draw(this.state.turns, now, isNew)
    if (isNew || now - this.#drawnAt >= DRAW_OPEN_MS) {
      this.#drawnAt = now
      this.#list.draw(this.state.turns, now)
    }
    if (isNew) this.#latency.show(latencyOf(this.state), this.state.turns)
    this.#drawn = this.state
    this.#tell(now, isNew)
  }

  #tell(now, isNew) {
    const floor = floorOf(this.state)
    this.#thinksSince = floor === 'thinking' ? (this.#thinksSince ?? now) : undefined
    const shown = now - this.#thinksSince < THINKING_SHOWS_MS ? 'nobody' : floor
    if (!isNew && shown === this.#floor) return
    this.#floor = shown
    this.#onChange(this.state, shown)
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
