import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultsIn, hear } from '../../browser/notes.ts'
import { play, RATE, type Tone, TUNE, TUNE_MS, toWav } from '../../browser/tune.ts'

const round = [...TUNE, ...TUNE, ...TUNE]
/** A piece of the round that begins in the middle of a note. */
const piece = (samples: Float32Array): Float32Array => samples.slice(RATE * 1.37, RATE * 9.2)
const faults = (samples: Float32Array): string[] => faultsIn(hear(samples, TUNE), TUNE)
const at = (ms: number): number => Math.round((ms * RATE) / 1000)

/** The second time round, note `index` begins here. */
const startOf = (index: number): number =>
  TUNE_MS + TUNE.slice(0, index).reduce((sum, { durationMs }) => sum + durationMs, 0)

function withNoise(samples: Float32Array, loudness: number): Float32Array {
  let seed = 1
  return samples.map((sample) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0
    return sample + (loudness * seed) / 2 ** 31
  })
}

describe('the tune', () => {
  it('has no two tones of one pitch, and neighbours far apart', () => {
    assert.equal(new Set(TUNE.map(({ hertz }) => hertz)).size, TUNE.length)
    for (const [i, { hertz }] of TUNE.entries()) {
      const next = TUNE[(i + 1) % TUNE.length]!.hertz
      assert.ok(Math.abs(Math.log2(next / hertz)) > 0.12, `${hertz} ${next}`)
    }
  })

  it('is a WAV file that says what it holds', () => {
    const wav = toWav(play(TUNE))
    assert.equal(wav.readUInt32LE(40), wav.length - 44)
    assert.equal(wav.readUInt32LE(24), RATE)
    assert.equal((wav.length - 44) / 2 / RATE, TUNE_MS / 1000)
  })
})

describe('hearing the tune again', () => {
  it('finds nothing wrong with it as it is, softer, and in noise', () => {
    const samples = piece(play(round))
    assert.deepEqual(faults(samples), [])
    assert.deepEqual(faults(samples.map((sample) => sample * 0.02)), [])
    assert.deepEqual(faults(withNoise(samples, 0.1)), [])
  })

  it('bears a little stretching', () => {
    const stretched = round.map((tone, i) => ({ ...tone, durationMs: tone.durationMs + (i % 2 ? 20 : -20) }))
    assert.deepEqual(faults(piece(play(stretched))), [])
  })

  it('notices a missing note', () => {
    const without = round.filter((_, i) => i !== TUNE.length + 5)
    assert.match(faults(piece(play(without))).join(), /note 6 instead of 5/)
  })

  it('notices swapped notes', () => {
    const swapped = [...round]
    const i = TUNE.length + 4
    ;[swapped[i], swapped[i + 1]] = [swapped[i + 1]!, swapped[i]!]
    assert.match(faults(piece(play(swapped))).join(), /note 5 instead of 4/)
  })

  it('notices a note sung twice', () => {
    const i = TUNE.length + 4
    assert.match(faults(piece(play(round.toSpliced(i, 0, round[i]!)))).join(), /note 4 is off by 250 ms/)
  })

  it('notices a gap of 60 ms in a note, and between two', () => {
    for (const where of [startOf(3) + 100, startOf(4) - 30]) {
      const samples = play(round)
      samples.fill(0, at(where), at(where + 60))
      assert.match(faults(piece(samples)).join(), /nothing for/, String(where))
    }
  })

  it('notices 100 ms cut out of a note', () => {
    const samples = play(round)
    const cut = at(startOf(3) + 100)
    samples.copyWithin(cut, cut + at(100))
    assert.match(faults(piece(samples)).join(), /note 3 is off by -(10|9)/)
  })

  it('notices a gap that crackles', () => {
    const samples = play(round)
    const from = startOf(3) + 80
    for (let ms = from; ms < from + 100; ms += 25) samples.fill(0, at(ms), at(ms + 20))
    assert.notDeepEqual(faults(piece(samples)), [])
  })

  it('notices noise, silence, another tune, and nothing at all', () => {
    const other: Tone[] = TUNE.map(({ durationMs }, i) => ({ hertz: 3000 + i * 40, durationMs }))
    const bad = [new Float32Array(RATE * 8), withNoise(new Float32Array(RATE * 8), 0.4), new Float32Array(0)]
    for (const samples of [...bad, play([...other, ...other])]) {
      assert.deepEqual(faults(samples), ['the marker was not heard'])
    }
  })

  it('asks for a whole tune', () => {
    const samples = play(round).subarray(at(TUNE_MS - 200), at(TUNE_MS + 1500))
    assert.match(faults(samples).join(), /only \d+ of 13 notes/)
  })
})
