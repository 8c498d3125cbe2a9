/**
 * The tune that browser tests sing into a call: one long marker and twelve short notes, each of its own pitch, again
 * and again. The marker shows where the tune begins, so that the order can be told from any piece of it. Pure.
 */

/** One tone of the tune. */
export interface Tone {
  readonly hertz: number
  readonly durationMs: number
}

/** Samples a second, of tunes and of recordings. */
export const RATE = 48_000

const LOWEST_HERTZ = 480
const STEP = 1.125
const NOTE_MS = 250
const MARKER_MS = 500
const RAMP_MS = 8
const LOUDNESS = 0.4

/** Neighbours are far apart in pitch, so that a smeared edge is not taken for a note between them. */
const MELODY = [1, 7, 3, 10, 5, 12, 2, 8, 4, 11, 6, 9]

/** Every tone of the tune in its order; the first is the marker, and no two have the same pitch. */
export const TUNE: readonly Tone[] = [
  { hertz: LOWEST_HERTZ, durationMs: MARKER_MS },
  ...MELODY.map((step) => ({ hertz: Math.round(LOWEST_HERTZ * STEP ** step), durationMs: NOTE_MS })),
]

/** How long the tune lasts. */
export const TUNE_MS = TUNE.reduce((sum, tone) => sum + tone.durationMs, 0)

/** The tones one after the other as samples from -1 to 1 at RATE, each with a short rise and fall. */
export function play(tones: readonly Tone[]): Float32Array {
  const lengths = tones.map(({ durationMs }) => (durationMs * RATE) / 1000)
  const samples = new Float32Array(lengths.reduce((sum, length) => sum + length, 0))
  let at = 0
  for (const [i, { hertz }] of tones.entries()) {
    const length = lengths[i]!
    for (let n = 0; n < length; n++) {
      const edge = Math.min(1, (Math.min(n, length - n) * 1000) / (RATE * RAMP_MS))
      samples[at + n] = LOUDNESS * edge * Math.sin((2 * Math.PI * hertz * n) / RATE)
    }
    at += length
  }
  return samples
}

/** Samples as a WAV file: mono, 16 bit, at RATE. */
export function toWav(samples: Float32Array): Buffer {
  const wav = Buffer.alloc(44 + samples.length * 2)
  wav.write('RIFF', 0, 'latin1')
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8, 'latin1')
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(RATE, 24)
  wav.writeUInt32LE(RATE * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36, 'latin1')
  wav.writeUInt32LE(samples.length * 2, 40)
  for (const [i, sample] of samples.entries()) wav.writeInt16LE(Math.round(sample * 32767), 44 + i * 2)
  return wav
}
