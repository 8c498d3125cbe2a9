/** The examples of docs/guides/write-a-codec-or-a-store.md keep their contracts, and the guide shows them as they are. */

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RoutingCodec } from 'earshot'
import { checkRecoveryStore, checkRoutingCodec, pluginContext } from 'earshot/testing'
import storePlugin from '../../examples/file-store/index.ts'
import codecPlugin, { fromPortable } from '../../examples/signed-codec/index.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const GUIDE = readFileSync(join(ROOT, 'docs/guides/write-a-codec-or-a-store.md'), 'utf8')

const KEYS = { first: 'a'.repeat(32), second: 'b'.repeat(32) }

/** The example has one key: with both it decodes by either and encodes by the second. */
function codec(keys: 'first' | 'second' | 'both'): RoutingCodec {
  if (keys !== 'both') return fromPortable(KEYS[keys])
  const [first, second] = [fromPortable(KEYS.first), fromPortable(KEYS.second)]
  return {
    encode: (...route) => second.encode(...route),
    decode: (...text) => second.decode(...text) ?? first.decode(...text),
  }
}

checkRoutingCodec('the signed codec', codec)

test('the signed codec is a plugin', async () => {
  const { context, close } = pluginContext()
  const made = await codecPlugin.setup({ key: KEYS.first }, {}, context)
  assert.equal(
    made.codec.portable?.module,
    new URL('../../examples/signed-codec/index.ts', import.meta.url).href,
  )
  await close()
})

checkRecoveryStore('the file store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-store-'))
  const { context, close } = pluginContext()
  const { recovery } = await storePlugin.setup({ folder }, {}, context)
  return {
    store: recovery,
    async close() {
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

test('the guide shows the examples as they are', () => {
  const flush = (code: string): string => code.replace(/^ +/gm, '')
  const files = ['signed-codec', 'file-store'].map((name) =>
    readFileSync(join(ROOT, 'test/examples', name, 'index.ts'), 'utf8'),
  )
  const shown = [...GUIDE.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
  assert.ok(shown.length >= 3)
  for (const code of shown)
    assert.ok(flush(files.join('')).includes(flush(code)), `not in the examples:\n${code}`)
})
