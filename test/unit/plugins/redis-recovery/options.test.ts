/** The options: one way to Redis, secrets that are never shown, clear problems, and the README's examples. */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { load } from '../../../../core/config/load.ts'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import plugin from '../../../../plugins/redis-recovery/index.ts'
import { check, Options, type RedisOptions } from '../../../../plugins/redis-recovery/options.ts'
import { parseRedisUrl } from '../../../../plugins/redis-recovery/pure/redis-url.ts'
import { options } from './rig.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const ENV = { REDIS_PASSWORD: 'hush-hush', RECOVERY_SECRET: 'c0ffee00'.repeat(8) }

const README = await readFile(join(ROOT, 'plugins', 'redis-recovery', 'README.md'), 'utf8')
const EXAMPLES = [...README.matchAll(/```json\n(.*?)```/gs)].map((match) => match[1]!)

async function loaded(text: string): ReturnType<typeof load> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-redis-options-'))
  try {
    const file = join(folder, 'edge.config.json')
    await writeFile(file, text.replace('"./plugins/', `"${ROOT}/plugins/`))
    return await load(file, ENV)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('the README’s example is a good config, and its secrets are kept out of what is printed', async () => {
  const { redact } = await loaded(EXAMPLES[0]!)
  for (const secret of Object.values(ENV)) assert.ok(!redact(`so it says: ${secret}`).includes(secret))
})

test('the README’s other examples are good options', async () => {
  assert.equal(EXAMPLES.length, 3)
  for (const example of EXAMPLES.slice(1)) {
    const config = {
      plugins: { recovery: { use: './plugins/redis-recovery/index.ts', options: JSON.parse(example) } },
    }
    await loaded(JSON.stringify(config))
  }
})

test('the secret is 64 hex digits, and nothing unknown passes', () => {
  const ok = (changes: object): boolean =>
    Value.Check(Options, { ...options({ url: 'redis://r' }), ...changes })
  assert.ok(ok({}))
  assert.ok(!ok({ secret: 'ab' }))
  assert.ok(!ok({ secret: undefined }))
  assert.ok(!ok({ ttl: 30 }))
  assert.ok(!ok({ keyPrefix: '{one-slot}' }))
  assert.ok(!ok({ url: 'http://r' }))
  for (const name of ['secret', 'password', 'url'] as const) {
    assert.equal(Reflect.get(Options.properties[name], 'writeOnly'), true, `${name} is never shown`)
  }
})

test('what contradicts itself is said by name', () => {
  const sentinel = { name: 'm', hosts: ['s:26379'], tls: false }
  const cluster = { hosts: ['c:6379'] }
  const rows: [Partial<RedisOptions>, ...string[]][] = [
    [{ url: 'redis://r' }],
    [{ url: 'rediss://u:p@[::1]:6380/5', tls: {} }],
    [{ sentinel, db: 3, tls: {} }],
    [{ cluster, username: 'u', password: 'p', db: 0 }],
    [{}, ''],
    [{ url: 'redis://r', cluster }, '/cluster'],
    [{ sentinel, cluster }, '/cluster'],
    [{ url: 'redis://' }, '/url'],
    [{ url: 'redis://r/zero' }, '/url'],
    [{ url: 'redis://r?family=6' }, '/url'],
    [{ url: 'redis://u:%zz@r' }, '/url'],
    [{ url: 'redis://u@r' }, '/url'],
    [{ url: 'redis://:p@r/1', password: 'p', db: 1 }, '/password', '/db'],
    [{ url: 'redis://r', username: 'u' }, '/username'],
    [{ url: 'redis://r', tls: {} }, '/tls'],
    [{ url: 'rediss://r', tls: { cert: 'c.pem' } }, '/tls'],
    [{ sentinel: { ...sentinel, hosts: ['s', 's:0', '[::1]:1'] } }, '/sentinel/hosts/0', '/sentinel/hosts/1'],
    [{ sentinel: { ...sentinel, tls: true } }, '/sentinel/tls'],
    [{ sentinel: { ...sentinel, username: 'u' } }, '/sentinel/username'],
    [{ cluster, db: 1 }, '/db'],
  ]
  for (const [changes, ...pointers] of rows) {
    const problems = check(options(changes))
    assert.deepEqual(
      problems.map(({ pointer }) => pointer),
      pointers,
      JSON.stringify(changes),
    )
    for (const { message, hint } of problems) assert.ok(message && hint)
  }
})

test('a URL says all of it, decoded, and leaves out what it does not name', () => {
  assert.deepEqual(parseRedisUrl('rediss://relay:p%40ss@[fd00::5]:6380/7'), {
    host: 'fd00::5',
    port: 6380,
    isTls: true,
    username: 'relay',
    password: 'p@ss',
    db: 7,
  })
  assert.deepEqual(parseRedisUrl('redis://redis'), { host: 'redis', port: 6379, isTls: false })
})

test('a TLS file that cannot be read stops the start and is named', async () => {
  const { context, close } = pluginContext()
  const setup = async () =>
    plugin.setup(options({ url: 'rediss://r', tls: { ca: '/nowhere/ca.pem' } }), {}, context)
  await assert.rejects(setup(), /tls\.ca cannot be read: .*\/nowhere\/ca\.pem/)
  await close()
})
