import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { validate } from '../../../../core/config/validate.ts'
import { checkOptions, Options, type RelayPluginOptions } from '../../../../plugins/relay/options.ts'

const GOOD: RelayPluginOptions = {
  listen: ['0.0.0.0:3478', '[::]:3478'],
  upstream: '127.0.0.1:0',
  allow: { cidrs: ['127.0.0.0/8'], ports: '3479' },
  framing: 'spp',
  workers: 'auto',
  pin: true,
  segments: false,
  coalesceMicroseconds: 0,
  maxFlows: 65536,
}

function pointers(options: Partial<RelayPluginOptions>): string[] {
  const problems = checkOptions({ ...GOOD, ...options })
  for (const { message, hint } of problems) assert.ok(message && hint)
  return problems.map(({ pointer }) => pointer)
}

test('every key of the framing has an id of its own', () => {
  const key = 'ab'.repeat(32)
  assert.deepEqual(
    pointers({
      framing: {
        mac: {
          keys: [
            { id: 1, key },
            { id: 2, key },
          ],
        },
      },
    }),
    [],
  )
  const keys = [1, 2, 1].map((id) => ({ id, key }))
  assert.deepEqual(pointers({ framing: { mac: { keys } } }), ['/framing/mac/keys/2/id'])
})

test('good options have no problems', () => {
  assert.deepEqual(pointers({}), [])
  assert.deepEqual(
    pointers({ upstream: '[::]:0', allow: { cidrs: ['10.0.0.0/8', 'fd00::/8'], ports: '1-9' } }),
    [],
  )
})

test('all that is wrong is told at once, each with its place', () => {
  const wrong = { listen: ['0.0.0.0', '1.2.3.4:99999'], upstream: 'localhost:1' }
  assert.deepEqual(pointers({ ...wrong, allow: { cidrs: ['10.0.0.0/8', '10/8'], ports: '80-' } }), [
    '/listen/0',
    '/listen/1',
    '/upstream',
    '/allow/cidrs/1',
    '/allow/ports',
  ])
})

test('a socket that clients know by another address', () => {
  const pair = { bind: '10.1.2.3:3478', advertise: '203.0.113.10:3478' }
  assert.deepEqual(pointers({ listen: [pair, '[::]:3478'] }), [])
  assert.deepEqual(pointers({ listen: [pair, { ...pair, bind: '10.1.2.4:3478' }] }), ['/listen/1/advertise'])
  assert.deepEqual(pointers({ listen: [pair, { ...pair, advertise: '203.0.113.11:3478' }] }), [
    '/listen/1/bind',
  ])
  assert.deepEqual(pointers({ listen: ['203.0.113.10:3478', pair] }), ['/listen/1/advertise'])
  assert.deepEqual(pointers({ listen: [{ bind: '0.0.0.0:3478', advertise: '0.0.0.0:0' }] }), [
    '/listen/0/bind',
    '/listen/0/advertise',
  ])
  assert.deepEqual(pointers({ listen: [{ bind: 'here', advertise: '203.0.113.10:0' }] }), [
    '/listen/0/bind',
    '/listen/0/advertise',
  ])
})

test('an address listed twice, and a CIDR that the upstream socket cannot reach', () => {
  assert.deepEqual(pointers({ listen: ['127.0.0.1:3478', '127.0.0.1:3478'] }), ['/listen/1'])
  assert.deepEqual(pointers({ allow: { cidrs: ['fd00::/8'], ports: '3479' } }), ['/allow/cidrs/0'])
})

test('clusters are numbers, written in one way', () => {
  const two = 'relay.two.internal:3490'
  assert.deepEqual(pointers({ clusters: { 0: two, 65535: two } }), [])
  assert.deepEqual(pointers({ clusters: { two, '02': two, 65536: two, 'a/b': two } }), [
    '/clusters/65536',
    '/clusters/two',
    '/clusters/02',
    '/clusters/a~1b',
  ])
})

test('sockets of another family than what they hear or send to', () => {
  const nat = { framing: 'nat', defaultUpstream: '[fd00::9]:5000' } as const
  assert.deepEqual(pointers(nat), ['/defaultUpstream'])
  assert.deepEqual(pointers({ ...nat, upstream: '[fd00::4]:0' }), [])
  assert.deepEqual(pointers({ framing: 'nat', defaultUpstream: '10.0.0.9:5000', upstream: '[::]:0' }), [])
  assert.deepEqual(pointers({ internal: { listen: '10.2.0.4:3490', cidrs: ['10.0.0.0/8', 'fd00::/8'] } }), [
    '/internal/cidrs/1',
  ])
})

test('ports behind ports: there are enough, and none belongs to two options', () => {
  const clusters = { 2: 'relay.two.internal:3490' }
  assert.deepEqual(pointers({ upstream: '127.0.0.1:65534', workers: 2 }), [])
  assert.deepEqual(pointers({ upstream: '127.0.0.1:65534', workers: 3 }), ['/upstream'])
  assert.deepEqual(pointers({ upstream: '127.0.0.1:0', workers: 64 }), [])
  assert.deepEqual(pointers({ clusters, spread: '127.0.0.1:65520' }), [])
  assert.deepEqual(pointers({ clusters, spread: '127.0.0.1:65521' }), ['/spread'])
  assert.deepEqual(pointers({ clusters, spread: '127.0.0.1:65520', workers: 17 }), ['/spread'])
  assert.deepEqual(pointers({ upstream: '127.0.0.1:3478' }), ['/upstream'])
  const listen = ['10.0.0.4:3478', '10.0.0.4:3488']
  assert.deepEqual(pointers({ listen, upstream: '10.0.0.4:3475', workers: 3 }), [])
  assert.deepEqual(pointers({ listen, upstream: '10.0.0.4:3475', workers: 4 }), ['/upstream'])
  assert.deepEqual(pointers({ listen, upstream: '10.0.0.5:3475', workers: 4 }), [])
  assert.deepEqual(pointers({ listen, upstream: '[::]:3475', workers: 4 }), [])
  const internal = { listen: '10.0.0.4:3490', cidrs: ['10.0.0.0/8'] }
  assert.deepEqual(pointers({ listen, upstream: '10.0.0.4:3489', workers: 2, internal }), [
    '/internal/listen',
  ])
  assert.deepEqual(pointers({ listen, clusters, internal, spread: '10.0.0.4:3475' }), ['/spread'])
})

function complete(options: unknown): unknown {
  const { value, problems } = validate(Options, options, '/options', {
    placeholders: new Map(),
    missing: new Set(),
  })
  assert.deepEqual(problems, [])
  return value
}

test('without options the defaults make a relay on this machine, the ones inside `allow` too', () => {
  const defaults = { ...GOOD, listen: ['0.0.0.0:3478'] }
  assert.deepEqual(complete({}), defaults)
  const pair = { bind: '10.1.2.3:3478', advertise: '203.0.113.10:3478' }
  assert.deepEqual(complete({ listen: [pair] }), { ...defaults, listen: [pair] })
  assert.deepEqual(complete({ allow: { ports: '1-9' } }), {
    ...defaults,
    allow: { cidrs: ['127.0.0.0/8'], ports: '1-9' },
  })
})

test('the README’s example is a good config', async () => {
  const readme = await readFile('plugins/relay/README.md', 'utf8')
  const { options } = JSON.parse(/```json\n(.*?)```/s.exec(readme)![1]!).plugins.relay
  assert.deepEqual(checkOptions({ ...GOOD, ...options }), [])
  assert.ok(complete(options))
})

test('the configs of the guide to several clusters are good, and nat stands alone', async () => {
  const guide = await readFile('docs/guides/global-relay.md', 'utf8')
  const configs = [...guide.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text!))
  const relays = configs.flatMap(({ plugins }) => plugins.relay ?? [])
  assert.equal(relays.length, 2)
  for (const { options } of relays) {
    assert.deepEqual(pointers(options), [])
    assert.ok(complete(options))
  }
  assert.deepEqual(pointers({ framing: 'nat', defaultUpstream: '10.0.0.9:5000' }), [])
  assert.deepEqual(pointers({ framing: 'nat', clusters: { 2: 'two:3490' } }), ['/framing'])
  assert.deepEqual(pointers({ framing: 'nat', workers: 0 }), [])
  assert.deepEqual(pointers({ framing: 'nat', workers: 2 }), ['/workers'])
  assert.deepEqual(pointers({ defaultUpstream: '10.0.0.9:5000' }), ['/defaultUpstream'])
  assert.deepEqual(pointers({ clusters: { 2: 'two' }, spread: 'x' }), ['/clusters/2', '/spread'])
  assert.deepEqual(pointers({ spread: '10.9.0.4:3500' }), ['/spread'])
  assert.deepEqual(pointers({ internal: { listen: '0.0.0.0:1', cidrs: ['x'] } }), [
    '/internal/listen',
    '/internal/cidrs/0',
  ])
})
