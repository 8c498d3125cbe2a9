import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { type BrowserOptions, startChromium, type TestBrowser, withoutChromium } from './chromium.ts'
import { call, complaintsOf, STAGES, sendAndHearBack, timeUntilEnded } from './demo-call.ts'
import { type ConfigFile, loopbackWith } from './edge-config.ts'
import { type Edge, startEdge } from './edge-process.ts'
import { installPageLoop, type LoopOptions } from './page-loop.ts'
import { play, TUNE, toWav } from './tune.ts'
import { until } from './until.ts'

/** Only the page: what it calls is inside it. */
const ALONE = {
  codec: undefined,
  recovery: undefined,
  relay: undefined,
  bridge: undefined,
  transceiver: undefined,
}

const skip = withoutChromium()
const text = (page: Page, id: string) => page.textContent(`#${id}`)
let config: ConfigFile
let edge: Edge
let chromium: TestBrowser

async function open(loop: LoopOptions, browser: Browser = chromium.browser): Promise<Page> {
  const page = await browser.newPage()
  await installPageLoop(page, loop)
  await page.goto(`${edge.url}?raw`)
  return page
}

async function problemWith(page: Page): Promise<string> {
  await page.click('#call')
  await until(page, 'earshotDemo.problem')
  assert.equal(await page.isVisible('#problem'), true)
  assert.equal(await text(page, 'call-label'), 'Call')
  return `${await text(page, 'problem-title')} ${await text(page, 'problem-advice')}`
}

describe('the demo page', { skip }, () => {
  before(async () => {
    config = await loopbackWith(ALONE)
    edge = await startEdge(config.path)
    chromium = await startChromium({ microphone: toWav(play(TUNE)) })
  })

  after(async () => {
    await chromium?.[Symbol.asyncDispose]()
    await edge?.[Symbol.asyncDispose]()
    await config?.[Symbol.asyncDispose]()
  })

  it('calls, shows every stage in order, the figures and the events, and hangs up', async () => {
    const page = await open({})
    const complaints = complaintsOf(page)
    await call(page)
    assert.equal(await text(page, 'call-label'), 'Hang up')
    assert.equal(await text(page, 'status'), 'Connected')
    const stages: Record<string, number> = await page.evaluate('earshotDemo.stages')
    assert.deepEqual(Object.keys(stages).toSorted(), STAGES.toSorted())
    // Channel and sound may come in either order; nothing else may.
    const times = STAGES.slice(0, 5).map((stage) => stages[stage]!)
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
    const rows = await page.locator('#stages li[data-reached] .ms').allTextContents()
    assert.equal(rows.length, STAGES.length)
    for (const row of rows) assert.match(row, /^\d+ ms$/)
    await sendAndHearBack(page, 'hello')
    await sendAndHearBack(page, '{"type":"session.update","session":{}}')
    // A message goes with the wish for an answer; all three come back.
    assert.equal(await page.locator('#events li').count(), 6)
    // It tells of no turns, so what is heard of both sides makes them.
    await until(page, `earshotDemo.floor === 'both'`)
    const turns = await page.locator('#turns li').allTextContents()
    assert.match(turns.join('\n'), /You.*\n.*Edge.* behind you.*\n.*Youhello/)
    await until(page, 'earshotDemo.stats?.codec')
    assert.match((await text(page, 'stats')) ?? '', /Round trip.*ms.*Jitter.*ms.*Loss.*%.*Opus/)
    await page.click('#call')
    await until(page, `earshotDemo.state === 'idle'`)
    assert.equal(await text(page, 'status'), 'Call ended')
    assert.equal(await page.isVisible('#problem'), false)
    assert.deepEqual(await page.evaluate('pageLoop.deleted.length'), 1)
    await until(page, `earshotDemo.peerConnection.connectionState === 'closed'`)
    assert.deepEqual(complaints, [])
    await page.close()
  })

  it('calls again after a call', async () => {
    const page = await open({})
    await call(page)
    await page.click('#call')
    await call(page)
    assert.equal(await page.evaluate('earshotDemo.state'), 'live')
    await page.close()
  })

  it('says within a second that the other side hung up', async () => {
    const page = await open({})
    await call(page)
    const took = await timeUntilEnded(page, () => page.evaluate('pageLoop.hangUp()'))
    assert.ok(took < 1000, `${took} ms`)
    assert.equal(await text(page, 'problem-title'), 'The other side hung up.')
    assert.deepEqual(await page.evaluate('pageLoop.deleted'), [])
    await page.close()
  })

  it('asks for a key only when the edge does, and calls with it', async () => {
    const page = await open({ key: 'open sesame' })
    assert.equal(await page.isVisible('#key-form'), false)
    assert.match(await problemWith(page), /API key/)
    assert.equal(await page.evaluate(`document.activeElement.id`), 'key')
    await page.fill('#key', 'open sesame')
    await page.press('#key', 'Enter')
    await until(page, `earshotDemo.state === 'live'`)
    assert.equal(await page.isVisible('#key-form'), false)
    await page.close()
  })

  it('says that the edge is full, and when to call again', async () => {
    const refuse = { status: 503, code: 'too_many_calls', message: 'All lines are taken', retryAfter: 7 }
    const page = await open({ refuse })
    assert.match(
      await problemWith(page),
      /takes no calls just now. All lines are taken. Call again in 7 seconds/,
    )
    await page.close()
  })

  it('says why the edge refused', async () => {
    const page = await open({ refuse: { status: 422, code: 'no_audio', message: 'no audio' } })
    assert.match(await problemWith(page), /refused the call. No audio. \(422, no_audio\)/)
    await page.close()
  })

  it('says that no sound gets through, and where it was to go', async () => {
    const page = await open({ elsewhere: '127.0.0.1:9' })
    assert.match(await problemWith(page), /No sound gets through.*UDP to 127\.0\.0\.1:9/)
    assert.deepEqual(await page.evaluate('pageLoop.deleted.length'), 1)
    await page.close()
  })

  it('gives up while it is still calling', async () => {
    const page = await open({ silent: true })
    await page.click('#call')
    await until(page, 'earshotDemo.stages.offer')
    assert.equal(await text(page, 'call-label'), 'Cancel')
    await page.click('#call')
    await until(page, `earshotDemo.state === 'idle'`)
    assert.equal(await page.isVisible('#problem'), false)
    await page.close()
  })

  it('says that the page is not on HTTPS or localhost', async () => {
    const page = await chromium.browser.newPage()
    await page.route('http://edge.example/**', async (route) => {
      const { pathname } = new URL(route.request().url())
      const response = await fetch(new URL(pathname, edge.url))
      const headers = Object.fromEntries(response.headers)
      await route.fulfill({
        status: response.status,
        headers,
        body: Buffer.from(await response.arrayBuffer()),
      })
    })
    await page.goto('http://edge.example/')
    await until(page, 'window.earshotDemo?.problem')
    assert.match((await text(page, 'problem')) ?? '', /A call needs HTTPS/)
    assert.equal(await page.isDisabled('#call'), true)
    await page.close()
  })

  const microphones: [string, BrowserOptions, RegExp][] = [
    ['was refused', { refuse: true }, /microphone is blocked.*Allow it/],
    ['is not there', { deaf: true }, /There is no microphone.*Plug one in/],
  ]
  for (const [what, options, words] of microphones) {
    it(`says that the microphone ${what}`, async () => {
      await using other = await startChromium(options)
      const page = await open({}, other.browser)
      assert.match(await problemWith(page), words)
      assert.deepEqual(await page.evaluate('earshotDemo.stages'), {})
    })
  }

  it('says that the edge cannot be reached', async () => {
    await using gone = await startEdge(config.path)
    const page = await chromium.browser.newPage()
    await page.goto(gone.url)
    await gone.stop()
    assert.match(await problemWith(page), /cannot be reached. Nothing answers at localhost:\d+/)
    await page.close()
  })

  it('fits a phone', async () => {
    const context = await chromium.browser.newContext({ viewport: { width: 320, height: 640 } })
    const page = await context.newPage()
    await page.goto(edge.url)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
    await context.close()
  })
})
