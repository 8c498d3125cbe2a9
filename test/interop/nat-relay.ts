/** A relay in front of one WebRTC server that knows nothing of it, and what a call through both must do. */

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { TestClient } from '../peers/client.ts'
import type { TestEdge } from '../peers/edge.ts'

/** What the codec's ufrags are made with. */
export const ROUTING_KEY = { id: 1, key: '00112233445566778899aabbccddeeff' }

/** The config of a relay alone, in front of a server at a port. */
export function natRelay(
  port: number,
  defaultUpstream: string | undefined,
): Readonly<Record<string, unknown>> {
  return {
    node: { cluster: 1 },
    http: { listen: '127.0.0.1:0' },
    admin: { listen: '127.0.0.1:0' },
    plugins: {
      codec: { use: './plugins/routing-codec/sealed/index.ts', options: { keys: [ROUTING_KEY] } },
      relay: {
        use: './plugins/relay/index.ts',
        options: {
          listen: ['127.0.0.1:0'],
          framing: 'nat',
          allow: { cidrs: ['127.0.0.0/8'], ports: String(port) },
          ...(defaultUpstream === undefined ? {} : { defaultUpstream }),
        },
      },
    },
  }
}

/** An offer whose server must hear of the client by what comes to it. */
export function withoutCandidates(offer: string): string {
  return offer.replace(/^a=candidate:.*\r?\n/gm, '')
}

/** The answer as its client gets it: the relay's address instead of the server's. */
export function throughRelay({ bound }: TestEdge, answer: string): string {
  const { host, port } = bound[0]!
  const candidate = `a=candidate:1 1 UDP 2130706431 ${host} ${port} typ host\r\n`
  return answer.replace(/^a=candidate:.*\r?\n/gm, '').replace(/^(a=ice-ufrag:.*\r?\n)/gm, `${candidate}$1`)
}

/** Audio and an event there and back; the relay saw all of it, and one address was all that the server had. */
export async function converseWith(client: TestClient, relay: TestEdge, server: string): Promise<void> {
  client.sendEvent({ type: 'hello' })
  assert.deepEqual(await client.events.take(), { type: 'hello' })
  const payloads = Array.from({ length: 10 }, (_, i) => Buffer.alloc(40 + i, 0xf8 + i))
  for (const payload of payloads) {
    client.sendAudio(payload)
    await delay(20)
  }
  for (const payload of payloads) assert.deepEqual(Buffer.from((await client.audio.take()).payload), payload)
  const { flows } = await relay.flows()
  assert.deepEqual(
    flows.map(({ client, confirmed }) => [client, confirmed]),
    [[String(client.local), true]],
  )
  assert.equal(flows[0]!.routes[0]!.transceiver, server)
  assert.ok(flows[0]!.packets.up > 10 && flows[0]!.packets.down > 10)
}
