/**
 * Measures the levels of two streams on the audio thread, where each sample has its time however busy the page is. Its
 * first input is you, its second the edge; each 10 ms or so it posts `{ atMs, you, edge }` in decibels, on the audio clock.
 */

const FLOOR_DB = -60
const NAMES = ['you', 'edge']
const WINDOW_MS = 10

class Levels extends AudioWorkletProcessor {
  #sums = [0, 0]
  #frames = 0

  process(inputs) {
    for (const i of NAMES.keys()) {
      for (const sample of inputs[i]?.[0] ?? []) this.#sums[i] += sample * sample
    }
    const frames = 128
    this.#frames += frames
    if (this.#frames * 1000 < WINDOW_MS * sampleRate) return true
    const [you, edge] = this.#sums.map((sum) =>
      Math.max(FLOOR_DB, 10 * Math.log10(sum / this.#frames + 1e-12)),
    )
    this.port.postMessage({ atMs: ((currentFrame + frames) * 1000) / sampleRate, you, edge })
    this.#sums = [0, 0]
    this.#frames = 0
    return true
  }
}

registerProcessor('levels', Levels)
