/** The plugin: its options, its checks, where its keys come from, and its README's example. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import plugin, { Options } from '../../../../../plugins/routing-codec/sealed/index.ts'

const KEY = '000102030405060708090a0b0c0d0e0f'

test('the README’s example is a good config', async () => {
  const readme = await readFile('plugins/routing-codec/sealed/README.md', 'utf8')
  const config = JSON.parse(/```json\n(.*?)```/s.exec(readme)![1]!)
  const { options } = config.plugins.codec
  assert.ok(Value.Check(Options, options))
  assert.deepEqual(plugin.check?.(options), [])
})

test('options: ids from 0 to 255, keys of 32 hex digits that are never shown, nothing unknown', () => {
  const ok = (options: unknown): boolean => Value.Check(Options, options)
  assert.ok(ok({}))
  assert.ok(ok({ keysFile: 'keys.json' }))
  assert.ok(ok({ keys: [{ id: 0, key: KEY.toUpperCase() }] }))
  assert.ok(!ok({ keys: [] }))
  assert.ok(!ok({ keys: [{ id: 256, key: KEY }] }))
  assert.ok(!ok({ keys: [{ id: 1, key: KEY.slice(1) }] }))
  assert.ok(!ok({ keys: [{ id: 1, key: KEY, more: 1 }] }))
  assert.ok(!ok({ keyFile: 'keys.json' }))
  const { key } = Options.properties.keys.items.properties
  assert.equal(Reflect.get(key, 'writeOnly'), true)
})

test('check: an id twice, and keys beside a file', () => {
  const keys = [3, 4, 3].map((id) => ({ id, key: KEY }))
  assert.deepEqual(
    plugin.check?.({ keys, keysFile: 'keys.json' }).map((p) => p.pointer),
    ['/keys/2/id', '/keysFile'],
  )
})
