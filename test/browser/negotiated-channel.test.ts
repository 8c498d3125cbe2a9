/** A browser that sets its data channel up by itself, `negotiated: true` with an id, and says so by `?dcid=`. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { edgeConfig } from '../integration/support/configs.ts'
import { startEdge } from '../peers/edge.ts'
import { bundlePage } from './bundle-page.ts'
import { startChromium, withoutChromium } from './chromium.ts'
import { until } from './until.ts'

const SCRIPT = `
  window.heard = []
  window.call = async (url, id) => {
    const pc = (window.pc = new RTCPeerConnection())
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    pc.addTrack(stream.getTracks()[0], stream)
    const channel = (window.channel = pc.createDataChannel('any name', { negotiated: true, id }))
    channel.onmessage = ({ data }) => heard.push(data)
    await pc.setLocalDescription()
    const form = new FormData()
    form.append('sdp', pc.localDescription.sdp)
    form.append('session', '{"type":"realtime"}')
    const response = await fetch(url + '?dcid=' + id, { method: 'POST', body: form })
    await pc.setRemoteDescription({ type: 'answer', sdp: await response.text() })
  }
`

describe('a data channel that a browser sets up by itself', { skip: withoutChromium() }, () => {
  it('opens without a word from the edge, and carries events both ways', async () => {
    await using edge = await startEdge({ config: edgeConfig() })
    await using page = await bundlePage(SCRIPT)
    await using chromium = await startChromium()
    const tab = await chromium.browser.newPage()
    await tab.goto(page.url)
    await tab.evaluate(`call('${edge.origin}/v1/realtime/calls', 7)`)
    await until(tab, `channel.readyState === 'open'`)
    await tab.evaluate(`channel.send('{"type":"hello"}')`)
    await until(tab, 'heard.length > 0')
    assert.deepEqual(await tab.evaluate('heard'), ['{"type":"hello"}'])
    await tab.evaluate('pc.close()')
    await edge.untilIdle()
  })
})
