import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { startChromium, withoutChromium } from './chromium.ts'
import { faultsIn, hear } from './notes.ts'
import { installPageLoop } from './page-loop.ts'
import { hearTune, record } from './recorder.ts'
import { play, TUNE, toWav } from './tune.ts'
import { until } from './until.ts'

const SOURCE = { stream: 'remote', peerConnection: 'pc' }

/** A page that calls the edge inside it, with nothing of the product in between. */
async function openCall(page: Page): Promise<void> {
  await page.route('http://localhost/', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<title>loop</title>' }),
  )
  await installPageLoop(page)
  await page.goto('http://localhost/')
  await page.evaluate(`(async () => {
    const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 }
    const microphone = await navigator.mediaDevices.getUserMedia({ audio })
    const pc = new RTCPeerConnection()
    pc.createDataChannel('oai-events')
    pc.ontrack = ({ track }) => {
      window.remote = new MediaStream([track])
      window.speaker = new Audio()
      speaker.srcObject = remote
      speaker.play()
    }
    pc.addTrack(microphone.getAudioTracks()[0], microphone)
    await pc.setLocalDescription()
    const response = await fetch('/v1/realtime/calls', { method: 'POST', headers: {}, body: pc.localDescription.sdp })
    await pc.setRemoteDescription({ type: 'answer', sdp: await response.text() })
    window.pc = pc
  })()`)
  await until(page, `pc.connectionState === 'connected'`)
}

describe('the harness by itself', { skip: withoutChromium() }, () => {
  it('hears every note that went through Opus and WebRTC', async () => {
    await using chromium = await startChromium({ microphone: toWav(play(TUNE)) })
    const page = await chromium.browser.newPage()
    await openCall(page)
    assert.deepEqual(await hearTune(page, SOURCE), [])
  })

  it('hears that the microphone was something else', async () => {
    await using chromium = await startChromium({ microphone: toWav(play(TUNE.toReversed())) })
    const page = await chromium.browser.newPage()
    await openCall(page)
    const { samples } = await record(page, SOURCE, 5)
    assert.notDeepEqual(faultsIn(hear(samples, TUNE), TUNE), [])
  })
})
