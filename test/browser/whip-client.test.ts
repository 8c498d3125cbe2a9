/** @eyevinn/whip-web-client, unmodified, publishes a microphone and a camera to the edge. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { withoutChromium } from './chromium.ts'
import { type ClientApp, KEY, startClientApp } from './client-app.ts'
import { until } from './until.ts'

const SCRIPT = `
  import { WHIPClient } from '@eyevinn/whip-web-client'
  window.publish = async (endpoint, authkey) => {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: true })
    window.client = new WHIPClient({ endpoint, opts: { authkey, iceServers: [] } })
    await window.client.ingest(stream)
  }
`

let app: ClientApp

describe('a WHIP client in a browser', { skip: withoutChromium() }, () => {
  before(async () => {
    app = await startClientApp(SCRIPT)
  })

  after(() => app?.[Symbol.asyncDispose]())

  it('connects, trickles, is heard, and ends its session; the video is refused and harms nothing', async () => {
    const { edge } = app
    const { tab, asked } = await app.open()
    await tab.evaluate(`publish('${edge.origin}/whip/kitchen', '${KEY}')`)
    await until(tab, `client.getICEConnectionState() === 'connected'`)
    const heard = async () => (await edge.sessions()).sessions[0]?.packetsReceived ?? 0
    await eventually('its audio arrives', async () => (await heard()) > 25, 10_000)
    const { caller, state } = (await edge.sessions()).sessions[0]!
    assert.deepEqual([caller, state], ['alice', 'connected'])
    const answer = await tab.evaluate<string>('client.peer.remoteDescription.sdp')
    assert.match(answer, /^m=video 0 /m)
    assert.match(answer, /^a=recvonly/m)
    await until(tab, `client.eTag !== null`)
    await eventually('it has trickled', () => asked.some(([method]) => method === 'PATCH'))
    await tab.evaluate('client.destroy()')
    await edge.untilIdle()
    const of = (method: string) => [
      ...new Set(asked.filter(([m]) => m === method).map(([, status]) => status)),
    ]
    assert.deepEqual(['POST', 'PATCH', 'DELETE'].map(of), [[201], [204], [200]])
    await tab.close()
  })
})
