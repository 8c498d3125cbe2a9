import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { load } from '../../../../core/config/load.ts'
import { REDACTED } from '../../../../core/config/redact.ts'
import { start } from '../../../../core/host.ts'
import { recordedLog } from '../host-fixture.ts'
import { pluginFolder } from './plugin-fixtures.ts'

const { folder, remove } = pluginFolder({
  'plugins/same/index.ts': `
    import * as door from 'earshot'
    globalThis.seenDoor = door
    const { definePlugin, EdgeError, Type } = door
    export default definePlugin({
      name: 'same', api: 1, options: Type.Object({}),
      setup(_options, _services, { http }) {
        http.get('/same', async () => { throw new EdgeError('no_audio', 'from outside') })
        return {}
      },
    })`,
  'node_modules/@acme/thing/package.json':
    '{ "name": "@acme/thing", "type": "module", "exports": { "import": "./plugin.js" } }',
  'node_modules/@acme/thing/plugin.js': `
    import { definePlugin, Type } from 'earshot'
    export default definePlugin({ name: 'thing', api: 1, options: Type.Object({}), setup: () => ({}) })`,
})
after(remove)

async function loadText(config: object, env: Record<string, string> = {}) {
  const file = join(folder, 'edge.config.json')
  writeFileSync(file, JSON.stringify(config))
  return load(file, env)
}

const phone = (options: object): object => ({
  plugins: { phone: { use: './plugins/phone/index.ts', options } },
})

test('an empty set of plugins is a config, and every section has its defaults', async () => {
  const { config, node } = await loadText({ plugins: {} })
  assert.deepEqual(config, {
    node: { cluster: 1, advertise: 'auto', udp: 'auto' },
    http: {
      listen: '127.0.0.1:8080',
      tls: false,
      keys: {},
      origins: ['http://localhost:*', 'http://127.0.0.1:*'],
      trustProxy: [],
      bodyLimit: 65536,
      maxConnections: 10_000,
    },
    admin: { listen: '127.0.0.1:9090' },
    telemetry: { prometheus: true },
    log: { level: 'info' },
    drainSeconds: 30,
    plugins: {},
  })
  assert.deepEqual(node, { cluster: 1, advertise: undefined, reachable: false })
})

test('text that was filled in becomes the type that the schema wants; text that was written does not', async () => {
  const env = { N: '7', YES: 'true', HERE: '5060', COUNT: '3' }
  const options = {
    listen: '${HERE}',
    lines: '${N}',
    loud: '${YES}',
    ring: { type: 'bell', count: '${COUNT}' },
  }
  const { order } = await loadText(phone(options), env)
  assert.deepEqual(order[0]?.options, {
    listen: '5060',
    lines: 7,
    loud: true,
    mode: 'strict',
    ring: { type: 'bell', count: 3 },
  })
  await assert.rejects(loadText(phone({ listen: 'x', lines: '7' })), /must be an integer/)
})

test('a union takes the defaults of the branch that fits', async () => {
  const { order } = await loadText(phone({ listen: 'x', ring: { type: 'tone' } }))
  assert.deepEqual(order[0]?.options.ring, { type: 'tone', hertz: 440 })
})

test('public listener, advertised addresses and cluster make the node', async () => {
  const keys = { me: '${KEY}' }
  const root = { node: { cluster: 9, advertise: ['203.0.113.7:3478'] }, http: { listen: '[::]:8080', keys } }
  const { node } = await loadText({ ...root, plugins: {} }, { KEY: '0123456789abcdef' })
  assert.equal(node.cluster, 9)
  assert.equal(node.reachable, true)
  assert.deepEqual(node.advertise?.map(String), ['203.0.113.7:3478'])
})

test('secrets are known to the log: written, filled in, in part, or out of a file', async () => {
  const config = {
    http: { keys: { a: 'plain-secret-of-16', b: 'prefix-of-key-${PART}' } },
    plugins: {
      phone: {
        use: './plugins/phone/index.ts',
        options: { listen: '${file:secret.txt}', secret: '${SECRET}' },
      },
    },
  }
  const { redact } = await loadText(config, { PART: 'partial-piece', SECRET: 'phone-secret' })
  for (const text of ['plain-secret-of-16', 'partial-piece', 'phone-secret', 'a-secret-out-of-a-file']) {
    assert.equal(redact(`<${text}>`), `<${REDACTED}>`)
  }
  assert.equal(redact('prefix-of-key-'), 'prefix-of-key-')
})

test('a plugin outside the clone imports "earshot", and it is the module that the host uses', async () => {
  const loaded = await loadText({
    http: { listen: '127.0.0.1:0' },
    admin: false,
    plugins: { same: { use: './plugins/same/index.ts' } },
  })
  const door = await import('../../../../core/index.ts')
  assert.equal(Reflect.get(globalThis, 'seenDoor'), door)
  await using edge = await start(loaded, { log: recordedLog().log })
  assert.equal((await edge.http.inject('/same')).json().error.code, 'no_audio')
})

test('a plugin is a file, a folder with an index, a package beside the config, or one of our own', async () => {
  mkdirSync(join(folder, 'deep'), { recursive: true })
  const uses = [
    './plugins/phone',
    '@acme/thing',
    'earshot/plugins/routing-codec/sealed',
    join(folder, 'plugins/hen'),
  ]
  for (const use of uses) {
    const report = await loadText({ plugins: { x: { use } } }).then(
      () => '',
      (error) => String(error.message),
    )
    assert.doesNotMatch(report, /\/use/, use)
  }
})

test('plugins come in the order of their needs, else in the order of the file', async () => {
  const { order } = await loadText({
    plugins: {
      taker: { use: './plugins/taker/index.ts', bind: { need: 'two' } },
      phone: { use: './plugins/phone/index.ts', options: { listen: 'x' } },
      one: { use: './plugins/giver/index.ts' },
      two: { use: './plugins/giver/index.ts' },
    },
  })
  assert.deepEqual(
    order.map(({ id }) => id),
    ['two', 'taker', 'phone', 'one'],
  )
  assert.deepEqual(order[1]?.from.get('need'), { id: 'two', local: 'thing' })
})

test('two instances of a plugin whose schema has an $id', async () => {
  const use = './plugins/named-schema/index.ts'
  const { order } = await loadText({ plugins: { one: { use }, two: { use, options: { a: 2 } } } })
  assert.deepEqual(
    order.map(({ options }) => options),
    [{ a: 1 }, { a: 2 }],
  )
})

test('a file that does not exist, and one that is a folder', async () => {
  await assert.rejects(load(join(folder, 'none.json'), {}), {
    code: 'config_invalid',
    message: `${join(folder, 'none.json')}\n    there is no such file\n    name an edge.config.json that exists`,
  })
  await assert.rejects(load(folder, {}), { code: 'config_invalid', message: /it cannot be read \(EISDIR\)/ })
})

test('an API key that a place does not have is none, and is demanded where others can reach', async () => {
  const http = (listen: string) => ({ http: { listen, keys: { app: '${EARSHOT_API_KEY:-}' } }, plugins: {} })
  const { config } = await loadText(http('127.0.0.1:8080'))
  assert.deepEqual(config.http.keys, {})
  const key = 'an-api-key-of-some-length'
  assert.deepEqual((await loadText(http('0.0.0.0:80'), { EARSHOT_API_KEY: key })).config.http.keys, {
    app: key,
  })
  await assert.rejects(loadText(http('0.0.0.0:80')), /http\.keys has no API key/)
  await assert.rejects(loadText({ http: { keys: { app: '' } }, plugins: {} }), /\/http\/keys\/app/)
  await assert.rejects(loadText({ http: { keys: { app: '${NONE}' } }, plugins: {} }), /NONE is not set/)
})
