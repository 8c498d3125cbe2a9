/** Tones and their measure, for tests of what audio became. */

/** `count` samples of a tone, from the `from`-th on, at a fifth of full scale. */
export function tone(rate: number, hertz: number, from: number, count: number): Float64Array {
  return Float64Array.from(
    { length: count },
    (_, i) => 6500 * Math.sin((2 * Math.PI * hertz * (from + i)) / rate),
  )
}

/** PCM16 little-endian. */
export function pcm(samples: Float64Array): Uint8Array {
  const bytes = Buffer.alloc(samples.length * 2)
  for (const [i, sample] of samples.entries()) bytes.writeInt16LE(Math.round(sample), i * 2)
  return bytes
}

function samplesOf(bytes: Uint8Array): number[] {
  const buffer = Buffer.from(bytes)
  return Array.from({ length: bytes.length / 2 }, (_, i) => buffer.readInt16LE(i * 2))
}

/** Mean square. */
export function power(bytes: Uint8Array): number {
  const samples = samplesOf(bytes)
  return samples.reduce((sum, x) => sum + x * x, 0) / samples.length
}

/** Which part of the power is the tone's, whatever its phase: 0 to 1. */
export function toneShare(bytes: Uint8Array, rate: number, hertz: number): number {
  const samples = samplesOf(bytes)
  let [cos, sin, total] = [0, 0, 0]
  for (const [i, x] of samples.entries()) {
    cos += x * Math.cos((2 * Math.PI * hertz * i) / rate)
    sin += x * Math.sin((2 * Math.PI * hertz * i) / rate)
    total += x * x
  }
  return total === 0 ? 0 : (2 * (cos * cos + sin * sin)) / (samples.length * total)
}
