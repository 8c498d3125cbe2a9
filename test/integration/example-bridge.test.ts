/** The example of the guide, by its path, in a call. */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startEdge } from '../peers/edge.ts'
import { edgeConfig } from './support/configs.ts'
import { startParrot, takeTurn } from './support/turn-call.ts'

it('a bridge in a folder of its own, named by its path, answers when the caller falls silent', async () => {
  using backend = await startParrot()
  const options = { url: backend.url, key: 'secret', pauseMs: 300 }
  await using edge = await startEdge({
    config: edgeConfig({ bridge: { use: './test/examples/http-turns/index.ts', options } }),
  })
  await takeTurn(edge.post)
  assert.deepEqual(backend.turns, ['Bearer secret'])
})
