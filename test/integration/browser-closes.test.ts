/** The browser closes: all that hangs on the call is told and closed, the backend's side and every sideband. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge } from '../peers/edge.ts'
import { edgeConfig } from './support/configs.ts'
import { Conversation } from './support/conversation.ts'
import { FastClock } from './support/fast-clock.ts'
import { scripted } from './support/scripted-bridge.ts'

const BRIDGE = { use: './test/integration/support/scripted-bridge.ts' }

/** Ways to close: how, the reason that everybody hears, and how much time must pass before it is clear. */
const ways: readonly [what: string, close: (client: TestClient) => Promise<void>, RegExp, ms: number][] = [
  ['a closed tab', (client) => client.close(), /^(channel_closed|peer_closed)$/, 0],
  ['a machine gone without a word', (client) => client.vanish(), /^peer_gone$/, 31_000],
]

describe('voice 36: the browser closes', () => {
  for (const [what, close, reason, afterMs] of ways) {
    it(`${what}: sidebands and bridge are told, and nothing of the call is left`, async () => {
      await using edge = await startEdge({ config: edgeConfig({ bridge: BRIDGE }) })
      await using client = await TestClient.connect(edge.post)
      using talk = new Conversation(client)
      await talk.exchange(5)
      await talk.finish()
      const aborted = scripted.aborted
      const sidebands = await Promise.all([sideband(edge.origin, client), sideband(edge.origin, client)])
      const closed = sidebands.map((socket) => once(socket, 'close'))
      await close(client)
      using clock = new FastClock()
      clock.jump(afterMs)
      for (const [code, text] of await Promise.all(closed)) {
        assert.ok(code === 1000 || code === 1011)
        assert.match(String(text), reason)
      }
      await edge.untilIdle()
      await eventually('the bridge was told', () => scripted.aborted === aborted + 1)
      assert.equal(scripted.open.size, 0)
    })
  }
})

/** A sideband of the client's call, open. */
async function sideband(origin: string, { url }: TestClient): Promise<WebSocket> {
  const address = new URL('/v1/realtime', origin.replace('http', 'ws'))
  address.searchParams.set('call_id', String(url).split('/').at(-1)!)
  const socket = new WebSocket(address)
  await once(socket, 'open')
  return socket
}
