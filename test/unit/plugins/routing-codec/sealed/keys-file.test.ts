/** The ways in which operators and platforms replace a keys file under a running process. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { KeysFile } from '../../../../../plugins/routing-codec/sealed/keys-file.ts'

const KEY = '000102030405060708090a0b0c0d0e0f'
const good = (...ids: number[]): string => JSON.stringify(ids.map((id) => ({ id, key: KEY })))

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'earshot-keys-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

/** A loaded keys file, and what it told since. */
async function loaded(path: string) {
  const told: string[] = []
  const file = new KeysFile(path, {
    onKeys: (keys) => told.push(`keys ${keys.map(({ id }) => id)}`),
    onBad: (reason) => told.push(reason),
  })
  await file.load()
  return { file, told }
}

test('another file renamed over it is taken as a whole, never a part of it', async (t) => {
  const path = join(await folder(t), 'keys.json')
  await writeFile(path, good(1))
  const { file, told } = await loaded(path)
  for (let i = 0; i < 50; i++) {
    await writeFile(`${path}.new`, good(2, i + 3))
    await Promise.all([rename(`${path}.new`, path), file.poll()])
  }
  await file.poll()
  assert.equal(told.at(-1), 'keys 2,52')
  assert.ok(told.every((each) => each.startsWith('keys 2,')))
})

test('a file that is written in place and read half-way keeps the keys in use until it is whole', async (t) => {
  const path = join(await folder(t), 'keys.json')
  await writeFile(path, good(1))
  const { file, told } = await loaded(path)
  const text = good(2, 1)
  await writeFile(path, '')
  await file.poll()
  for (const character of text) {
    assert.ok(told.every((each) => each === 'it is not JSON'))
    await appendFile(path, character)
    await file.poll()
  }
  assert.equal(told.at(-1), 'keys 2,1')
})

test('a file that cannot be read keeps the keys in use until it can', async (t) => {
  const path = join(await folder(t), 'keys.json')
  await writeFile(path, good(1))
  const { file, told } = await loaded(path)
  await rm(path)
  // Permissions do not keep root out; a folder in its place keeps everybody.
  await mkdir(path)
  await file.poll()
  await file.poll()
  await rm(path, { recursive: true })
  await writeFile(path, good(2, 1))
  await file.poll()
  assert.deepEqual(told, ['it cannot be read (EISDIR)', 'keys 2,1'])
})

test('keys that cannot be taken are told of, and the next are taken', async (t) => {
  const path = join(await folder(t), 'keys.json')
  await writeFile(path, good(1))
  const told: string[] = []
  const file = new KeysFile(path, {
    onKeys(keys) {
      if (keys.length === 1) throw new Error('no cipher')
      told.push(`keys ${keys.map(({ id }) => id)}`)
    },
    onBad: (reason) => told.push(reason),
  })
  await file.load()
  await writeFile(path, good(2))
  await file.poll()
  await writeFile(path, good(2, 1))
  await file.poll()
  assert.deepEqual(told, ['its keys cannot be taken (no cipher)', 'keys 2,1'])
})

test('a Kubernetes secret, which changes by its links, is followed', async (t) => {
  // As kubelet does it: keys.json → ..data/keys.json, ..data → a folder of its own for each version.
  const mount = await folder(t)
  const version = async (name: string, text: string): Promise<void> => {
    await mkdir(join(mount, name))
    await writeFile(join(mount, name, 'keys.json'), text)
    await symlink(name, join(mount, '..data_tmp'))
    await rename(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  await version('..2026_01_01', good(1))
  await symlink(join('..data', 'keys.json'), join(mount, 'keys.json'))
  const { file, told } = await loaded(join(mount, 'keys.json'))
  await version('..2026_01_02', good(1, 2))
  await rm(join(mount, '..2026_01_01'), { recursive: true })
  await file.poll()
  await version('..2026_01_03', good(2, 1))
  await file.poll()
  assert.deepEqual(told, ['keys 1,2', 'keys 2,1'])
})

test('what is no file, or far too large, keeps the keys in use and is not waited for', async (t) => {
  const path = join(await folder(t), 'keys.json')
  await writeFile(path, good(1))
  const { file, told } = await loaded(path)
  await rm(path)
  execFileSync('mkfifo', [path])
  await file.poll()
  await rm(path)
  await writeFile(path, ' '.repeat(65_537))
  await file.poll()
  await writeFile(path, good(3))
  await file.poll()
  assert.deepEqual(told, ['it cannot be read (ENOTFILE)', 'it cannot be read (EFBIG)', 'keys 3'])
})
