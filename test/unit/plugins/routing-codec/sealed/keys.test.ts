/** Keys as operators write them, in the config and in a file that changes under the process. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { EdgeError } from '../../../../../core/errors.ts'
import { eventually } from '../../../../../core/testing/check.ts'
import { parseKeys } from '../../../../../plugins/routing-codec/sealed/keys.ts'
import { KeysFile } from '../../../../../plugins/routing-codec/sealed/keys-file.ts'

const KEY = '000102030405060708090a0b0c0d0e0f'
const good = (...ids: number[]): string => JSON.stringify(ids.map((id) => ({ id, key: KEY })))

test('a good file gives its keys', () => {
  assert.deepEqual(parseKeys(good(0, 255)), [
    { id: 0, key: KEY },
    { id: 255, key: KEY },
  ])
})

test('a bad file says what is wrong and shows no key', () => {
  const bad: [text: string, reason: RegExp][] = [
    [`[{"id":1,"key":"${KEY}"`, /not JSON/],
    ['[]', /at least one key/],
    [`{"id":1,"key":"${KEY}"}`, /not a list/],
    ['[null]', /key 0 is not an object/],
    [`[{"key":"${KEY}"}]`, /key 0 has no "id"/],
    [`[{"id":256,"key":"${KEY}"}]`, /"id" from 0 to 255/],
    [`[{"id":1.5,"key":"${KEY}"}]`, /"id" from 0 to 255/],
    [`[{"id":1,"key":"${KEY}0"}]`, /32 hex digits/],
    [`[{"id":1,"key":"${KEY}","note":"${KEY}"}]`, /something unknown/],
    [good(4, 5, 4), /key id 4 is used twice, here and by key 0/],
  ]
  for (const [text, reason] of bad) {
    assert.throws(
      () => parseKeys(text),
      (error) => {
        assert.ok(error instanceof Error)
        assert.match(error.message, reason)
        assert.ok(!error.message.includes(KEY.slice(0, 8)))
        return true
      },
    )
  }
})

async function setUp(t: TestContext, text: string | undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'keys.json')
  if (text !== undefined) await writeFile(path, text)
  const told: string[] = []
  const file = new KeysFile(path, {
    onKeys: (keys) => told.push(`keys ${keys.map((key) => key.id)}`),
    onBad: (reason) => told.push(reason),
  })
  t.after(() => file.stop())
  return { path, file, told }
}

test('at start a file that is missing or bad is an error that names it', async (t) => {
  for (const [text, reason] of [
    [undefined, /ENOENT/],
    ['{}', /not a list/],
  ] as const) {
    const { path, file } = await setUp(t, text)
    await assert.rejects(file.load(), (error) => {
      assert.ok(error instanceof EdgeError)
      assert.equal(error.code, 'config_invalid')
      assert.ok(error.message.includes(path))
      assert.match(error.message, reason)
      return true
    })
  }
})

test('a change is told once, bad content too, and the same length is a change', async (t) => {
  const { path, file, told } = await setUp(t, good(1))
  assert.deepEqual(await file.load(), [{ id: 1, key: KEY }])
  await file.poll()
  assert.deepEqual(told, [])
  for (const text of [good(2), '[{', good(2, 1)]) {
    await writeFile(path, text)
    await file.poll()
    await file.poll()
  }
  await rm(path)
  await file.poll()
  await file.poll()
  await writeFile(path, good(2, 1))
  await file.poll()
  assert.deepEqual(told, ['keys 2', 'it is not JSON', 'keys 2,1', 'it cannot be read (ENOENT)', 'keys 2,1'])
})

test('the watch goes on until it is stopped', async (t) => {
  const { path, file, told } = await setUp(t, good(1))
  await file.load()
  file.watch(1)
  await writeFile(path, good(2))
  await eventually('the first change is told', () => told.includes('keys 2'))
  await writeFile(path, good(3))
  await eventually('the second change is told', () => told.includes('keys 3'))
})
