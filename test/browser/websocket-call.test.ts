import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { startChromium, type TestBrowser, withoutChromium } from './chromium.ts'
import {
  call,
  complaintsOf,
  DEMO_SOURCE,
  hangUpOverHttp,
  sendAndHearBack,
  timeUntilEnded,
} from './demo-call.ts'
import { type EchoBackend, startEchoBackend } from './echo-backend.ts'
import { type ConfigFile, loopbackWith } from './edge-config.ts'
import { type Edge, startEdge, untilEmpty } from './edge-process.ts'
import { hearTune } from './recorder.ts'
import { play, TUNE, toWav } from './tune.ts'

let backend: EchoBackend
let config: ConfigFile
let edge: Edge
let chromium: TestBrowser

async function open() {
  const page = await chromium.browser.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${edge.url}?raw&model=echo`)
  await call(page)
  return { page, complaints }
}

describe('a call from a browser to a WebSocket backend', { skip: withoutChromium() }, () => {
  before(async () => {
    backend = await startEchoBackend()
    const use = 'plugins/inference-bridge/websocket/index.ts'
    config = await loopbackWith({ bridge: { use, options: { url: backend.url, rate: 24_000 } } })
    edge = await startEdge(config.path)
    chromium = await startChromium({ microphone: toWav(play(TUNE)) })
  })

  after(async () => {
    await chromium?.[Symbol.asyncDispose]()
    await edge?.[Symbol.asyncDispose]()
    await config?.[Symbol.asyncDispose]()
    await backend?.[Symbol.asyncDispose]()
  })

  it('brings every note back, decoded and encoded again, and every event', async () => {
    const { page, complaints } = await open()
    assert.deepEqual(await hearTune(page, DEMO_SOURCE), [])
    await sendAndHearBack(page, '{"type":"session.update","session":{"instructions":"Größe, 声"}}')
    assert.equal(backend.starts.length, 1)
    assert.partialDeepStrictEqual(backend.starts[0], {
      model: 'echo',
      audio: { encoding: 'pcm16', rate: 24_000 },
    })
    const [conversation] = backend.conversations
    const closed = once(conversation!, 'close')
    await page.click('#call')
    assert.equal((await closed)[0], 1000)
    assert.deepEqual(complaints, [])
    await page.close()
  })

  it('ends within a second when somebody hangs up over HTTP, for the browser and for the backend', async () => {
    const { page } = await open()
    const [conversation] = backend.conversations
    const closed = once(conversation!, 'close')
    const took = await timeUntilEnded(page, () => hangUpOverHttp(edge, page))
    assert.ok(took < 1000, `${took} ms`)
    await closed
    await page.close()
  })

  for (const [what, end] of [
    ['asks for it', JSON.stringify({ type: 'call.end', reason: 'done' })],
    ['closes the connection', undefined],
  ] as const) {
    it(`ends within a second when the backend ${what}`, async () => {
      const { page } = await open()
      const [conversation] = backend.conversations
      const took = await timeUntilEnded(page, async () =>
        end ? conversation!.send(end) : conversation!.close(1000),
      )
      assert.ok(took < 1000, `${took} ms`)
      assert.equal(await page.textContent('#problem-title'), 'The other side hung up.')
      await page.close()
    })
  }

  it('leaves nothing behind', async () => {
    await untilEmpty(edge)
    assert.equal(backend.conversations.size, 0)
    assert.equal(await edge.stop(), 0)
  })
})
