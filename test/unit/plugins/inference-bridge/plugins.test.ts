/** The bridges as plugins: their options, their checks, and their READMEs' examples. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import loopback from '../../../../plugins/inference-bridge/loopback/index.ts'
import websocket from '../../../../plugins/inference-bridge/websocket/index.ts'
import { check, Options } from '../../../../plugins/inference-bridge/websocket/options.ts'

async function example(name: string): Promise<{ use: string; options?: object }> {
  const readme = await readFile(`plugins/inference-bridge/${name}/README.md`, 'utf8')
  return JSON.parse(/```json\n(.*?)```/s.exec(readme)![1]!).plugins.bridge
}

function complete(options: object) {
  return Value.Parse(Options, Value.Default(Options, options))
}

test('the READMEs’ examples are good configs of the plugins they name', async () => {
  const first = await example('loopback')
  assert.equal(first.use, './plugins/inference-bridge/loopback/index.ts')
  assert.ok(Value.Check(loopback.options, first.options ?? {}))
  const second = await example('websocket')
  assert.equal(second.use, './plugins/inference-bridge/websocket/index.ts')
  assert.deepEqual(check(complete(second.options!)), [])
})

test('the websocket bridge needs a url, and has defaults for the rest', () => {
  assert.deepEqual(complete({ url: 'wss://backend.example/' }), {
    url: 'wss://backend.example/',
    rate: 24000,
    headers: {},
    connectTimeoutMs: 5000,
    maxMessageBytes: 1_048_576,
    readAheadMs: 30_000,
  })
  const url = 'ws://backend.example/'
  for (const bad of [
    {},
    { url: 'http://x/' },
    { url, rate: 12000 },
    { url, headers: { a: 1 } },
    { url, more: 1 },
  ]) {
    assert.ok(!Value.Check(Options, Value.Default(Options, bad)), JSON.stringify(bad))
  }
})

test('its checks name what is wrong with a url or a header', () => {
  const pointers = (options: object): string[] =>
    check(complete({ url: 'ws://x/', ...options })).map(({ pointer }) => pointer)
  assert.deepEqual(pointers({ url: 'ws://', headers: { 'a/b ~': 'x', good: 'y' } }), [
    '/url',
    '/headers/a~1b ~0',
  ])
  assert.deepEqual(pointers({ url: 'ws://x/#top' }), ['/url'])
})

test('set up, each provides a bridge in its format', async () => {
  const { context, close } = pluginContext()
  assert.equal((await loopback.setup({}, {}, context)).bridge.audio, 'opus')
  const { bridge } = await websocket.setup(complete({ url: 'ws://x/', rate: 16000 }), {}, context)
  assert.deepEqual(bridge.audio, { pcm16: 16000 })
  await close()
})
