/** Speech's like, for tests of codecs: pitch that moves, formants that change, syllables and pauses. Deterministic. */

/** Formants of some vowels, in Hz. */
const VOWELS = [
  [730, 1090, 2440],
  [270, 2290, 3010],
  [300, 870, 2240],
  [530, 1840, 2480],
  [570, 840, 2410],
] as const
const SYLLABLE_S = 0.23
const LOUD = 9000

/** How strongly a vowel sounds at a frequency. */
function gain(vowel: readonly number[], hertz: number): number {
  return vowel.reduce(
    (sum, formant, i) => sum + 1 / (1 + ((hertz - formant) / (60 + 40 * i)) ** 2) / (1 + i),
    0.02,
  )
}

/** `seconds` of it at `rate`; every fifth syllable is a pause unless `pauses` is false. */
export function voice(rate: number, seconds: number, pauses = true): Float64Array {
  const samples = new Float64Array(Math.round(rate * seconds))
  const harmonics = Array.from({ length: 30 }, () => 0)
  for (let i = 0; i < samples.length; i++) {
    const at = i / rate
    const syllable = Math.floor(at / SYLLABLE_S)
    const within = at / SYLLABLE_S - syllable
    const pitch = 120 + 25 * Math.sin(2 * Math.PI * 0.7 * at) + 10 * Math.sin(2 * Math.PI * 3 * at)
    const envelope = pauses && syllable % 5 === 4 ? 0 : Math.sin(Math.PI * within) ** 0.5
    const vowel = VOWELS[syllable % VOWELS.length]!
    let sum = 0
    for (let h = 0; h < harmonics.length; h++) {
      const hertz = pitch * (h + 1)
      harmonics[h] = (harmonics[h]! + (2 * Math.PI * hertz) / rate) % (2 * Math.PI)
      if (hertz < rate / 2) sum += gain(vowel, hertz) * Math.sin(harmonics[h]!)
    }
    samples[i] = Math.max(-32000, Math.min(32000, LOUD * envelope * sum))
  }
  return samples
}
