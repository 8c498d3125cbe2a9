/** Calls between a relay and a transceiver whose frames have tags, and between ones that do not agree. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { opensslProblem } from '../../core/index.ts'
import { eventually } from '../../core/testing/check.ts'
import { TestClient } from '../peers/client.ts'
import { startEdge, type TestEdge } from '../peers/edge.ts'

const needs = { skip: opensslProblem()?.message ?? false }
const OLD = { id: 1, key: '01'.repeat(32) }
const NEW = { id: 2, key: '02'.repeat(32) }

type Keys = readonly (typeof OLD)[] | undefined

function edgeWith(workers: number, relay: Keys, transceiver: Keys): Promise<TestEdge> {
  const framing = (keys: Keys): unknown => (keys ? { mac: { keys } } : 'spp')
  return startEdge({
    config: {
      node: { cluster: 1 },
      http: { listen: '127.0.0.1:0' },
      admin: { listen: '127.0.0.1:0' },
      plugins: {
        codec: { use: './plugins/routing-codec/sealed/index.ts' },
        relay: {
          use: './plugins/relay/index.ts',
          options: {
            listen: ['127.0.0.1:0'],
            allow: { ports: '1024-65535' },
            framing: framing(relay),
            workers,
          },
        },
        bridge: { use: './plugins/inference-bridge/loopback/index.ts' },
        transceiver: {
          use: './plugins/transceiver/index.ts',
          options: { listen: '127.0.0.1:0', framing: framing(transceiver) },
        },
      },
    },
  })
}

/** What the metrics say was dropped, by `role reason`. */
async function drops({ edge }: TestEdge, role: 'relay' | 'transceiver', reason: string): Promise<number> {
  const { body } = await edge.admin.inject({ method: 'GET', url: '/metrics' })
  const line = new RegExp(`^earshot_${role}_drops_total\\{.*reason="${reason}".*\\} (\\d+)`, 'm')
  return Number(line.exec(body)?.[1] ?? 0)
}

for (const workers of [0, 1]) {
  const where = workers === 0 ? 'in the event loop' : 'in a thread'
  test(`a call through a relay ${where} with tags, in the middle of a rotation`, needs, async () => {
    await using edge = await edgeWith(workers, [NEW, OLD], [OLD, NEW])
    await using client = await TestClient.connect(edge.post)
    client.sendEvent({ type: 'hello' })
    assert.deepEqual(await client.events.take(), { type: 'hello' })
  })

  test(`a transceiver takes nothing of a relay ${where} that has no key, and says so`, needs, async () => {
    await using edge = await edgeWith(workers, undefined, [OLD])
    await using client = await TestClient.open()
    client.accept(await edge.post(client.offer))
    await eventually('it is counted', async () => (await drops(edge, 'transceiver', 'mac_missing')) > 0)
    assert.equal(client.media, undefined)
  })

  test(`a relay ${where} with another key than its transceiver gets no call through`, needs, async () => {
    await using edge = await edgeWith(workers, [{ ...OLD, key: NEW.key }], [OLD])
    await using client = await TestClient.open()
    client.accept(await edge.post(client.offer))
    await eventually('it is counted', async () => (await drops(edge, 'transceiver', 'mac_wrong')) > 0)
    assert.equal(client.media, undefined)
  })
}
