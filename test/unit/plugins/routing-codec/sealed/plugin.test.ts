/** The plugin: its options, its checks, where its keys come from, and its README's example. */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import { parseAddress } from '../../../../../core/wire/address.ts'
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

const ROUTE = { cluster: 1, address: parseAddress('10.0.0.5:3478')!, session: new Uint8Array(8) }

/** A codec of the plugin, and whether it understands a text. */
async function setUp(options: Parameters<typeof plugin.setup>[0]) {
  const host = pluginContext()
  const { codec } = await plugin.setup(options, {}, host.context)
  const reads = (text: string): boolean => {
    const bytes = Buffer.from(text)
    return codec.decode(bytes, 0, bytes.length, 'ufrag') !== undefined
  }
  return { host, codec, reads }
}

test('without keys it makes one, says so, and is understood by itself alone', async () => {
  const [one, two] = [await setUp({}), await setUp({})]
  assert.match(String(one.host.logs[0]?.msg), /no routing key is configured/)
  const text = one.codec.encode(ROUTE, 'ufrag')
  assert.ok(one.reads(text))
  assert.ok(!two.reads(text))
  await Promise.all([one.host.close(), two.host.close()])
})

test('keys from the config and the same keys from a file understand each other; no key is logged', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-sealed-'))
  t.after(() => rm(folder, { recursive: true }))
  const keysFile = join(folder, 'keys.json')
  const keys = [{ id: 9, key: KEY }]
  await writeFile(keysFile, JSON.stringify(keys))
  const [config, file] = [await setUp({ keys }), await setUp({ keysFile })]
  assert.ok(file.reads(config.codec.encode(ROUTE, 'ufrag')))
  assert.ok(config.reads(file.codec.encode(ROUTE, 'ufrag')))
  await Promise.all([config.host.close(), file.host.close()])
  assert.ok(!JSON.stringify([config.host.logs, file.host.logs]).includes(KEY))
})

test('a keys file that is missing stops the start', async () => {
  const { context, close } = pluginContext()
  const setup = async () => plugin.setup({ keysFile: '/nowhere/keys.json' }, {}, context)
  await assert.rejects(setup(), /\/nowhere\/keys\.json cannot be used/)
  await close()
})
