/** Listens to both sides at once: their levels, dated on the page's clock, however late the page comes to hear of them. */

import { AudioClock } from './audio-clock.js'

const WORKLET = new URL('level-worklet.js', import.meta.url)

/** One page's listener. */
export class Listener {
  #clock
  #onLevels
  #audioClock = new AudioClock()
  #node
  #loading
  #sources = new Map()

  /** `clock` gives the page's milliseconds; `onLevels` gets `{ at, you, edge }` on that clock. */
  constructor(clock, onLevels) {
    this.#clock = clock
    this.#onLevels = onLevels
  }

  /** Listens to a stream as `who`, and to no other as that. */
  async connect(context, who, stream) {
    this.#sources.get(who)?.disconnect()
    const source = new MediaStreamAudioSourceNode(context, { mediaStream: stream })
    this.#sources.set(who, source)
    this.#loading ??= this.#load(context)
    const node = await this.#loading
    if (this.#sources.get(who) === source) source.connect(node, 0, who === 'you' ? 0 : 1)
  }

  /** Listens no more. */
  disconnect() {
    for (const source of this.#sources.values()) source.disconnect()
    this.#sources.clear()
    this.#audioClock = new AudioClock()
  }

  async #load(context) {
    await context.audioWorklet.addModule(WORKLET)
    this.#node = new AudioWorkletNode(context, 'levels', { numberOfInputs: 2 })
    this.#node.port.onmessage = ({ data: { atMs, you, edge } }) => {
      if (this.#sources.size === 0) return
      this.#onLevels({ at: this.#audioClock.toPage(atMs, this.#clock()), you, edge })
    }
    // What leads nowhere may never run. It adds silence.
    this.#node.connect(context.destination)
    return this.#node
  }
}
