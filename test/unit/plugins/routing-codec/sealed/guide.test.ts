/** The guide to rotating keys: its fragments are right, and the metrics that it names exist. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { Options } from '../../../../../plugins/routing-codec/sealed/index.ts'
import { parseKeys } from '../../../../../plugins/routing-codec/sealed/keys.ts'

const ROOT = join(import.meta.dirname, '../../../../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const GUIDE = read('docs/guides/rotate-the-keys.md')

test('its fragments are an option and a keys file that are taken', () => {
  const [option, file, ...more] = [...GUIDE.matchAll(/```json\n(.*?)```/gs)].map((match) => match[1]!)
  assert.deepEqual(more, [])
  const { codec } = JSON.parse(`{${option}}`)
  assert.ok(Value.Check(Options, codec.options))
  assert.equal(parseKeys(file!).length, 1)
})

test('its metrics are those of the READMEs', () => {
  const listed = ['plugins/routing-codec/sealed/README.md', 'plugins/relay/README.md']
    .flatMap((path) => [...read(path).matchAll(/^\| `(earshot[^`]*)`/gm)])
    .map((match) => match[1]!.replaceAll('.', '_'))
  const named = [...GUIDE.matchAll(/earshot_[a-z_]+/g)].map(([name]) => name.replace(/_total$/, ''))
  assert.ok(named.length > 5)
  for (const name of named) assert.ok(listed.includes(name), name)
})
