/** Calls open no ports: the UDP addresses of an edge are those it has before the first one. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClient } from '../peers/client.ts'
import { startEdge } from '../peers/edge.ts'
import { edgeConfig } from './support/configs.ts'

test('six calls at once use the ports that were there before, and every answer names the relay alone', async () => {
  await using edge = await startEdge({ config: edgeConfig() })
  const before = edge.bound.map(String)
  assert.equal(before.length, 3, 'the relay’s public and internal socket, and the transceiver’s one')
  await using stack = new AsyncDisposableStack()
  const clients = await Promise.all(
    Array.from({ length: 6 }, async () => stack.use(await TestClient.connect(edge.post))),
  )
  assert.deepEqual(edge.bound.map(String), before)
  const { flows } = await edge.flows()
  for (const client of clients) {
    assert.deepEqual(client.answer!.candidates.map(String), [before[0]], 'the relay, not the transceiver')
    const flow = flows.find((one) => one.client.endsWith(`:${client.local.port}`))
    assert.deepEqual(
      flow?.routes.map(({ transceiver }) => transceiver),
      [before[2]],
      'one socket serves every call',
    )
  }
})
