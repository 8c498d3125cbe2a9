/** Pipecat's client with its small WebRTC transport, unmodified, calls the edge. */

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../../core/testing/check.ts'
import { withoutChromium } from './chromium.ts'
import { type ClientApp, KEY, startClientApp } from './client-app.ts'
import { until } from './until.ts'

const SCRIPT = `
  import { PipecatClient, RTVIEvent } from '@pipecat-ai/client-js'
  import { SmallWebRTCTransport, WavMediaManager } from '@pipecat-ai/small-webrtc-transport'
  window.make = () => {
    window.seen = []
    window.tracks = []
    const transport = window.transport = new SmallWebRTCTransport({ mediaManager: new WavMediaManager() })
    window.client = new PipecatClient({
      transport,
      enableMic: true,
      enableCam: false,
      callbacks: {
        onTransportStateChanged: (state) => seen.push(state),
        onTrackStarted: (track, participant) => participant?.local || tracks.push(track),
        onBotReady: (data) => seen.push('bot-ready ' + data.version),
        onError: (message) => seen.push('error ' + JSON.stringify(message)),
      },
    })
    return window.client
  }
  const headers = (key) => new Headers({ authorization: 'Bearer ' + key })
  window.direct = (endpoint, key) => make().connect({ webrtcRequestParams: { endpoint, headers: headers(key) } })
  window.viaStart = (endpoint, key) => make().startBotAndConnect({ endpoint, headers: headers(key), requestData: { body: { voice: 'x' } } })
  const ufrag = () => /a=ice-ufrag:(\\S+)/.exec(transport.pc.localDescription.sdp)[1]
  // As it does when it negotiates anew, which it never does by itself with new credentials.
  window.restartIce = async () => {
    const before = ufrag()
    transport.pc.restartIce()
    await transport.attemptReconnection(false)
    return before !== ufrag()
  }
  window.pair = async () => {
    const stats = [...(await transport.pc.getStats()).values()]
    const { selectedCandidatePairId, iceLocalUsernameFragment } = stats.find((one) => one.type === 'transport')
    const { localCandidateId } = stats.find((one) => one.id === selectedCandidatePairId)
    const { port, usernameFragment } = stats.find((one) => one.id === localCandidateId)
    return { port, isNew: usernameFragment === ufrag() && iceLocalUsernameFragment === ufrag() }
  }
  window.outcome = async (call) => { try { await call; return 'ready' } catch (error) { return String(error.message ?? error) } }
`

let app: ClientApp

describe('pipecat’s client in a browser', { skip: withoutChromium() }, () => {
  before(async () => {
    app = await startClientApp(SCRIPT)
  })

  after(() => app?.[Symbol.asyncDispose]())

  for (const [what, call] of [
    ['straight to /api/offer', () => `direct('${app.edge.origin}/api/offer', '${KEY}')`],
    ['by /start and a session of its own', () => `viaStart('${app.edge.origin}/start', '${KEY}')`],
  ] as const) {
    it(`is ready ${what}, is heard, hears, and leaves`, async () => {
      const { tab, asked } = await app.open()
      assert.equal(await tab.evaluate(`outcome(${call()})`), 'ready')
      assert.deepEqual(await tab.evaluate('seen.filter((one) => one.startsWith("error"))'), [])
      await until(tab, `seen.some((one) => one.startsWith('bot-ready'))`)
      const session = async () => (await app.edge.sessions()).sessions[0]!
      await eventually(
        'audio goes both ways',
        async () => {
          const { packetsReceived, packetsSent } = await session()
          return packetsReceived > 75 && packetsSent > 25
        },
        15_000,
      )
      assert.equal((await session()).caller, 'alice')
      await until(tab, 'tracks.some((track) => track.kind === "audio" && !track.muted)')
      await eventually('it has trickled', () => asked.some(([method]) => method === 'PATCH'))
      assert.deepEqual(
        asked.filter(([, status]) => status >= 300),
        [],
      )
      await tab.evaluate('client.disconnect()')
      await app.edge.untilIdle()
      await tab.close()
    })
  }

  it('restarts ICE in a call that goes on; with a new peer connection, in one that takes its place', async () => {
    const { tab, asked } = await app.open()
    assert.equal(await tab.evaluate(`outcome(direct('${app.edge.origin}/api/offer', '${KEY}'))`), 'ready')
    const session = async () => (await app.edge.sessions()).sessions[0]!
    const more = async (count: number): Promise<void> => {
      const from = await session()
      await eventually(
        'audio goes both ways',
        async () => {
          const { packetsReceived, packetsSent } = await session()
          return packetsReceived >= from.packetsReceived + count && packetsSent >= from.packetsSent + count
        },
        15_000,
      )
    }
    await more(25)
    const first = (await session()).session
    const pair = () => tab.evaluate<{ port: number; isNew: boolean }>('pair()')
    const { port } = await pair()
    for (let n = 1; n <= 2; n++) {
      assert.equal(await tab.evaluate('restartIce()'), true)
      await eventually('media takes the new way', async () => (await pair()).isNew)
      await more(25)
      assert.equal(
        await tab.evaluate('transport.dc.readyState + transport.pc.connectionState'),
        'openconnected',
      )
    }
    assert.notEqual((await pair()).port, port, 'it has new sockets')
    const { total, sessions } = await app.edge.sessions()
    assert.deepEqual([total, sessions[0]?.session], [1, first])
    assert.deepEqual(
      asked.filter(([method]) => method === 'POST').map(([, status]) => status),
      [200, 200, 200],
    )
    await tab.evaluate('transport.attemptReconnection(true)')
    await eventually('there is one call, and another', async () => {
      const { total, sessions } = await app.edge.sessions()
      const [{ session: id, state } = { session: first, state: '' }] = sessions
      return total === 1 && id !== first && state === 'connected'
    })
    await until(tab, `transport.dc.readyState === 'open'`)
    assert.deepEqual(await tab.evaluate('seen.filter((one) => /error|disconnect/.test(one))'), [])
    await tab.evaluate('client.disconnect()')
    await app.edge.untilIdle()
    await tab.close()
  })

  it('gives up at once when its key is wrong', async () => {
    const { tab, asked } = await app.open()
    const outcome = await tab.evaluate<string>(
      `outcome(direct('${app.edge.origin}/api/offer', 'nobody-has-this-key'))`,
    )
    assert.match(outcome, /401/)
    assert.equal(asked.filter(([method]) => method === 'POST').length, 1)
    await tab.close()
  })
})
