import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { startChromium, type TestBrowser, withoutChromium } from './chromium.ts'
import {
  call,
  complaintsOf,
  DEMO_SOURCE,
  hangUpOverHttp,
  STAGES,
  sendAndHearBack,
  timeUntilEnded,
} from './demo-call.ts'
import { LOOPBACK_CONFIG } from './edge-config.ts'
import { type Edge, leftovers, startEdge, untilEmpty } from './edge-process.ts'
import { hearTune } from './recorder.ts'
import { play, TUNE, toWav } from './tune.ts'
import { until } from './until.ts'

let edge: Edge
let chromium: TestBrowser

async function open(): Promise<{ page: Page; complaints: string[] }> {
  const page = await chromium.browser.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${edge.url}?raw`)
  return { page, complaints }
}

/** The sessions must be gone at once; the relay, which nobody tells, forgets by itself. */
async function noSessions(): Promise<void> {
  const end = performance.now() + 2000
  for (;;) {
    const { sessions, bound } = await leftovers(edge)
    if (sessions === 0 && bound === 0) return
    assert.ok(performance.now() < end, `${sessions} sessions are left, ${bound} things bound to them`)
  }
}

describe('a call from a browser to the loopback bridge', { skip: withoutChromium() }, () => {
  before(async () => {
    edge = await startEdge(LOOPBACK_CONFIG)
    chromium = await startChromium({ microphone: toWav(play(TUNE)) })
  })

  after(async () => {
    await chromium?.[Symbol.asyncDispose]()
    await edge?.[Symbol.asyncDispose]()
  })

  it('brings every note back in order and without a gap, and every event', async (t) => {
    const { page, complaints } = await open()
    await call(page)
    assert.deepEqual(await hearTune(page, DEMO_SOURCE), [])
    await sendAndHearBack(page, '{"type":"session.update","session":{"instructions":"Größe, 声"}}')
    await sendAndHearBack(page, 'hello')
    const stages: Record<string, number> = await page.evaluate('earshotDemo.stages')
    for (const stage of STAGES) t.diagnostic(`${stage} ${Math.round(stages[stage]!)} ms`)
    assert.equal((await leftovers(edge)).sessions, 1)
    assert.deepEqual(complaints, [])
    await page.close()
    await noSessions()
  })

  it('is freed when the page hangs up', async () => {
    const { page, complaints } = await open()
    await call(page)
    await page.click('#call')
    await until(page, `earshotDemo.state === 'idle'`)
    await noSessions()
    assert.deepEqual(complaints, [])
    await page.close()
  })

  it('is freed when somebody hangs up over HTTP, and the browser notices within a second', async () => {
    const { page, complaints } = await open()
    await call(page)
    const took = await timeUntilEnded(page, async () => assert.equal(await hangUpOverHttp(edge, page), 200))
    assert.ok(took < 1000, `${took} ms`)
    assert.equal(await page.textContent('#problem-title'), 'The other side hung up.')
    await noSessions()
    assert.equal(await hangUpOverHttp(edge, page), 404)
    assert.deepEqual(complaints, [])
    await page.close()
  })

  it('is freed when the person leaves the page', async () => {
    const { page } = await open()
    await call(page)
    await page.goto('about:blank')
    await noSessions()
    await page.close()
  })

  it('goes on three at a time, each with its own sound and events', async () => {
    const pages = await Promise.all([open(), open(), open()])
    for (const { page } of pages) await call(page)
    assert.equal((await leftovers(edge)).sessions, 3)
    await Promise.all(pages.map(({ page }, i) => sendAndHearBack(page, `{"type":"mine","i":${i}}`)))
    for (const { page } of pages) await page.close()
    await noSessions()
  })

  it('leaves nothing behind, no error in the log, and an edge that stops', async () => {
    await untilEmpty(edge)
    assert.deepEqual(
      edge.log.filter(({ level }) => level === 'error' || level === 'fatal'),
      [],
    )
    assert.equal(await edge.stop(), 0)
  })
})
