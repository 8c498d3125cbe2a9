/** TLS files that change under a running process: what is good is taken, what is bad is told once and changes nothing. */

import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { EdgeError } from '../../../../core/index.ts'
import { TlsFiles } from '../../../../plugins/redis-recovery/tls-files.ts'
import { redisTlsFiles } from '../../../peers/redis-tls.ts'
import { recordedLog } from '../../core/host-fixture.ts'

async function loaded() {
  const made = await redisTlsFiles()
  const option = { ca: made.ca, cert: made.clientCert, key: made.clientKey, servername: 'redis.internal' }
  const files = await TlsFiles.load(option)
  const { log, entries } = recordedLog()
  /** Whether what ioredis would connect with is what is in the files now. */
  const isNow = async (): Promise<boolean> => {
    const { ca, cert, key } = files.settings
    const read = await Promise.all([option.ca, option.cert, option.key].map((path) => readFile(path, 'utf8')))
    return [ca, cert, key].every((pem, i) => String(pem) === read[i])
  }
  const levels = () => entries.map(({ level }) => level)
  return {
    made,
    option,
    files,
    log,
    entries,
    isNow,
    levels,
    [Symbol.asyncDispose]: made[Symbol.asyncDispose],
  }
}

test('what was renewed is what the next connection is made with', async () => {
  await using rig = await loaded()
  const { settings } = rig.files
  assert.ok(await rig.isNow())
  await rig.files.reread(rig.log)
  assert.deepEqual(rig.entries, [], 'nothing has changed')
  await rig.made.renewClient()
  assert.ok(!(await rig.isNow()))
  await Promise.all([rig.files.reread(rig.log), rig.files.reread(rig.log)])
  assert.ok(await rig.isNow())
  assert.equal(rig.files.settings, settings, 'it is the object that ioredis has')
  assert.equal(settings.servername, 'redis.internal')
  assert.deepEqual(rig.levels(), [30])
})

test('a certificate whose key is not there yet is not taken, nor what is gone or no PEM; each is told once', async () => {
  await using rig = await loaded()
  const before = { ...rig.files.settings }
  const { cert, key } = rig.option
  const oldKey = await readFile(key)
  await rig.made.renewClient()
  const newKey = await readFile(key)
  const bad: (() => Promise<void>)[] = [
    () => writeFile(key, oldKey),
    () => writeFile(key, 'no key'),
    () => rm(key),
  ]
  for (const [i, spoil] of bad.entries()) {
    await spoil()
    await rig.files.reread(rig.log)
    await rig.files.reread(rig.log)
    assert.deepEqual({ ...rig.files.settings }, before)
    assert.deepEqual(rig.levels(), Array(i + 1).fill(40))
  }
  assert.ok(!JSON.stringify(rig.entries).includes('no key'))
  await writeFile(key, newKey)
  await rig.files.reread(rig.log)
  assert.ok(await rig.isNow())
  assert.deepEqual(rig.levels(), [40, 40, 40, 30])
  await writeFile(cert, 'no certificate')
  await rig.files.reread(rig.log)
  assert.deepEqual(rig.levels(), [40, 40, 40, 30, 40])
})

test('a start with files that cannot be used fails, and says which', async () => {
  await using rig = await loaded()
  const { ca, cert, key } = rig.option
  await assert.rejects(TlsFiles.load({ ca: `${ca}.gone` }), isInvalid(/^tls\.ca cannot be read: ENOENT/))
  await assert.rejects(TlsFiles.load({ cert, key: cert }), isInvalid(/^the files in tls do not work: /))
  const none = await TlsFiles.load({})
  await none.reread(rig.log)
  assert.deepEqual([none.settings, rig.entries], [{}, []])
  await TlsFiles.load({ cert, key })
})

const isInvalid = (message: RegExp) => (error: unknown) =>
  error instanceof EdgeError && error.code === 'config_invalid' && message.test(error.message)
