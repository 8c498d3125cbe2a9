/**
 * A call with the parrot through the whole edge: the page says a phrase, hears it back, and speaks over the answer; what
 * is typed comes back as well. The page's own conversation shows what happened.
 */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Turn } from '../../plugins/demo/public/turns.js'
import { startChromium, withoutChromium } from './chromium.ts'
import { complaintsOf, DEMO_SOURCE } from './demo-call.ts'
import { loopbackWith } from './edge-config.ts'
import { startEdge } from './edge-process.ts'
import { hear } from './notes.ts'
import { record } from './recorder.ts'
import { RATE, type Tone, toWav } from './tune.ts'
import { until } from './until.ts'

const PARROT = { use: 'plugins/inference-bridge/parrot/index.ts' }

/** The phrase: five sounds that a voice detector takes for a voice, told apart by their loudest tone. */
const PHRASE: readonly Tone[] = [600, 900, 700, 1100, 500].map((hertz) => ({ hertz, durationMs: 400 }))
/** What is said over the answer, which then has said about half of the phrase. */
const OVER: readonly Tone[] = [{ hertz: 1400, durationMs: 1200 }]
const OVERTONES = [150, 1900]

/** Each tone with two quieter ones: a vowel, more or less. */
function voice(tones: readonly Tone[]): Float32Array[] {
  return tones.map(({ hertz, durationMs }) =>
    Float32Array.from({ length: (RATE * durationMs) / 1000 }, (_, n) => {
      const sine = (f: number): number => Math.sin((2 * Math.PI * f * n) / RATE)
      return 0.25 * sine(hertz) + 0.08 * OVERTONES.reduce((sum, f) => sum + sine(f), 0)
    }),
  )
}

const silence = (ms: number): Float32Array => new Float32Array((RATE * ms) / 1000)

/** Pieces of sound one after the other. */
function join(pieces: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Again and again: the phrase, time for a pause and the first half of the answer, and the interruption. */
const MICROPHONE = join([silence(1500), ...voice(PHRASE), silence(2000), ...voice(OVER), silence(3500)])

/** The tones that were heard for long enough, in their order. */
function tonesIn(samples: Float32Array): number[] {
  const tones = [...PHRASE, ...OVER]
  const heard = hear(samples, tones).filter(({ durationMs }) => durationMs >= 150)
  return heard.flatMap(({ tone }) => (tone === undefined ? [] : tones[tone]!.hertz))
}

const CUT = `earshotDemo.turns.findLast(({ cut }) => cut?.playedMs > 0 && cut.silentAfterMs !== undefined)`

it('takes turns, and stops when it is spoken over', { skip: withoutChromium() }, async () => {
  await using config = await loopbackWith({ bridge: PARROT })
  await using edge = await startEdge(config.path)
  await using chromium = await startChromium({ microphone: toWav(MICROPHONE) })
  const page = await chromium.browser.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${edge.url}?raw`)
  await page.click('#call')
  await until(page, `earshotDemo.state === 'live' && earshotDemo.remoteStream`)
  const recording = record(page, DEMO_SOURCE, 9)

  await until(page, `earshotDemo.floor === 'you' && document.querySelector('#input[data-speaks]')`)
  assert.equal(await page.textContent('#headline'), 'You speak.')
  await until(page, `earshotDemo.floor === 'edge' && document.querySelector('#output[data-speaks]')`)
  assert.equal(await page.textContent('#headline'), 'It answers.')
  const cut = await until<Turn>(page, CUT, 30_000)
  const turns: Turn[] = await page.evaluate('earshotDemo.turns')

  const at = turns.findIndex(({ id }) => id === cut.id)
  assert.deepEqual(
    turns.slice(at - 1, at + 2).map(({ who, kind }) => `${who} ${kind}`),
    ['you speech', 'edge speech', 'you speech'],
  )
  assert.ok(cut.cut!.playedMs! < 3000, 'less was played than was said')
  assert.ok(cut.cut!.silentAfterMs! < 2000, `silent after ${cut.cut!.silentAfterMs} ms`)
  const { totalMs, noticeMs, answerMs } = cut.latency!
  assert.ok(Math.abs(totalMs - noticeMs! - answerMs!) < 1, 'the parts make the whole')
  assert.ok(noticeMs! > 400, `its pause of 600 ms is in ${noticeMs} ms`)

  assert.match((await page.textContent('#turns li[data-cut] .cut')) ?? '', /cut off after \d+ ms, silent/)
  assert.equal(await page.locator('#lanes .speech[data-cut]').count(), 1)
  assert.match((await page.textContent('#latency')) ?? '', /Median\d+ms.*Its pause\d+ms/)

  const heard = tonesIn((await recording).samples)
  assert.deepEqual(heard.slice(0, 2), [600, 900], 'the answer is the phrase from its beginning')
  assert.ok(!heard.slice(0, 4).includes(500), 'and not to its end')
  await page.fill('#message', 'Polly?')
  await page.press('#message', 'Enter')
  await until(page, `earshotDemo.turns.some(({ who, text }) => who === 'edge' && text === 'Polly?')`)
  assert.equal(await page.isVisible('#problem'), false)
  await page.click('#call')
  await until(page, `earshotDemo.state === 'idle' && earshotDemo.floor === 'nobody'`)
  assert.deepEqual(complaints, [])
})
