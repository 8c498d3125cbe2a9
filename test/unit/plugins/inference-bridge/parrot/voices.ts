/** Sound that a voice detector takes for a voice, and silence; 16 kHz. */

import type { AudioFrame } from '../../../../../core/index.ts'

const RATE = 16_000
const FORMANTS = [150, 700, 1200]

/** Frames of 20 ms of a steady vowel, `firstMs` into the call. */
export function vowel(ms: number, firstMs = 0): AudioFrame[] {
  return frames(ms, firstMs, (n) =>
    FORMANTS.reduce((sum, hz) => sum + 2700 * Math.sin((2 * Math.PI * hz * n) / RATE), 0),
  )
}

/** Frames of 20 ms of nothing. */
export function silence(ms: number, firstMs = 0): AudioFrame[] {
  return frames(ms, firstMs, () => 0)
}

function frames(ms: number, firstMs: number, sample: (n: number) => number): AudioFrame[] {
  return Array.from({ length: Math.round(ms / 20) }, (_, i) => {
    const data = Buffer.alloc(640)
    for (let n = 0; n < 320; n++) data.writeInt16LE(Math.round(sample(i * 320 + n)), n * 2)
    return { data, durationMs: 20, timestampMs: firstMs + 20 * i }
  })
}
