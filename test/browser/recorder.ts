/** Records what a page hears: a MediaStream of the page becomes samples in the test. */

import type { Page } from 'playwright-core'

/**
 * Runs in the page's audio thread. It is served from the page's own origin, so that the page's content security
 * policy holds in the test as it does for people.
 */
const WORKLET = `
registerProcessor('recorder', class extends AudioWorkletProcessor {
  process([input]) {
    if (input[0]) this.port.postMessage(input[0].slice())
    return true
  }
})`

const WORKLET_PATH = '/test-recorder.js'

/** Records `seconds` of a stream, given as an expression of the page. Mono, at 48 kHz. */
export async function record(page: Page, stream: string, seconds: number): Promise<Float32Array> {
  await page.route(`**${WORKLET_PATH}`, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: WORKLET }),
  )
  const base64: string = await page.evaluate(inPage(stream, seconds))
  const bytes = Buffer.from(base64, 'base64')
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}

function inPage(stream: string, seconds: number): string {
  return `(async () => {
    const context = new AudioContext({ sampleRate: 48000 })
    await context.audioWorklet.addModule('${WORKLET_PATH}')
    const source = context.createMediaStreamSource(${stream})
    const recorder = new AudioWorkletNode(context, 'recorder', { channelCount: 1, channelCountMode: 'explicit' })
    const samples = new Float32Array(${seconds} * 48000)
    let at = 0
    const full = new Promise((resolve) => {
      recorder.port.onmessage = ({ data }) => {
        if (at >= samples.length) return resolve()
        samples.set(data.subarray(0, samples.length - at), at)
        at += data.length
      }
    })
    source.connect(recorder).connect(context.destination)
    await full
    await context.close()
    const bytes = new Uint8Array(samples.buffer)
    let text = ''
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
    return btoa(text)
  })()`
}
