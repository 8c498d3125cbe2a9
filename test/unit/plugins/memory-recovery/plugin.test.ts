/** The plugin: its options, its default, and its README's example. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import { toAddress } from '../../../../core/wire/address.ts'
import plugin, { Options } from '../../../../plugins/memory-recovery/index.ts'

test('the README’s example is a good config', async () => {
  const readme = await readFile('plugins/memory-recovery/README.md', 'utf8')
  const config = JSON.parse(/```json\n(.*?)```/s.exec(readme)![1]!)
  assert.ok(Value.Check(Options, config.plugins.recovery.options))
})

test('options: a number of clients, 100,000 by default, nothing unknown', () => {
  assert.deepEqual(Value.Default(Options, {}), { maxEntries: 100_000 })
  for (const bad of [{ maxEntries: 0 }, { maxEntries: 1.5 }, { maxEntries: 5, ttl: 1 }]) {
    assert.ok(!Value.Check(Options, bad))
  }
})

test('set up, it remembers as many as it may', async () => {
  const { context, close } = pluginContext()
  const { recovery } = await plugin.setup({ maxEntries: 1 }, {}, context)
  const [advertised, one, two] = [1, 2, 3].map((port) => toAddress('192.0.2.1', port)!)
  const value = { cluster: 1, transceiver: advertised!, session: new Uint8Array(8) }
  const signal = new AbortController().signal
  recovery.remember(advertised!, one!, value)
  assert.ok(await recovery.recall(advertised!, one!, signal))
  recovery.remember(advertised!, two!, value)
  assert.equal(await recovery.recall(advertised!, one!, signal), undefined)
  await close()
})
