import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { validate } from '../../../../core/config/validate.ts'
import { checkOptions, Options, type TransceiverOptions } from '../../../../plugins/transceiver/options.ts'

const GOOD: TransceiverOptions = {
  listen: '127.0.0.1:3479',
  relays: ['127.0.0.0/8', '::1/128'],
  framing: 'spp',
  direct: false,
  maxCalls: 500,
  connectSeconds: 30,
  maxCallSeconds: 3600,
  opus: { bitrate: 32000, complexity: 5, dtx: true, fec: true },
  limits: { requestsPerMinute: 6000, keys: {} },
}

const keys = ['0123456789abcdef0123456789abcdef']

function complete(options: object) {
  return validate(Options, options, '/options', { placeholders: new Map(), missing: new Set() })
}

function pointers(options: Partial<TransceiverOptions>): string[] {
  const problems = checkOptions({ ...GOOD, ...options })
  for (const { message, hint } of problems) assert.ok(message && hint)
  return problems.map(({ pointer }) => pointer)
}

test('nothing has to be set', () => {
  const { value, problems } = complete({})
  assert.deepEqual(problems, [])
  assert.deepEqual(value, GOOD)
  assert.deepEqual(pointers({}), [])
})

test('each of these is wrong in its own place', () => {
  const rows: [Partial<TransceiverOptions>, string[]][] = [
    [{ listen: 'localhost:3479' }, ['/listen']],
    [{ listen: '127.0.0.1' }, ['/listen']],
    [{ listen: '127.0.0.1:70000' }, ['/listen']],
    [{ listen: '0.0.0.0:3479' }, ['/listen']],
    [{ listen: '[::]:3479' }, ['/listen']],
    [{ announce: '0.0.0.0:3479' }, ['/announce']],
    [{ announce: '10.0.0.5:0' }, ['/announce']],
    [{ announce: 'edge.example:3479' }, ['/announce']],
    [
      { listen: 'x', announce: 'y', relays: ['10.0.0.0/8', '10/8', ''] },
      ['/listen', '/announce', '/relays/1', '/relays/2'],
    ],
    [
      { control: { keys, allow: { cidrs: ['10/8'], ports: '0-1' } } },
      ['/control/allow/cidrs/0', '/control/allow/ports'],
    ],
    [{ control: { keys, allow: { cidrs: ['10.0.0.0/8'], ports: '3490-3479' } } }, ['/control/allow/ports']],
  ]
  for (const [options, places] of rows) assert.deepEqual(pointers(options), places, JSON.stringify(options))
})

test('control is off unless it has keys, and keys are long', () => {
  const { value, problems } = complete({ control: { keys } })
  assert.deepEqual(problems, [])
  const allow = { cidrs: ['127.0.0.0/8', '::1/128'], ports: '3479' }
  assert.partialDeepStrictEqual(value, { control: { keys, allow } })
  for (const control of [{}, { keys: [] }, { keys: ['0123456789abcdef0123456789abcde'] }]) {
    assert.equal(complete({ control }).problems.length, 1, JSON.stringify(control))
  }
})

test('each of these is right', () => {
  assert.deepEqual(pointers({ listen: '0.0.0.0:3479', announce: '10.0.0.5:3479' }), [])
  assert.deepEqual(pointers({ listen: '[fd00::5]:3479', relays: ['fd00::/8', '10.0.0.4'] }), [])
  assert.deepEqual(pointers({ listen: '127.0.0.1:0', relays: [], direct: true }), [])
})

test("the README's table has every option with its default, and its example is a good config", async () => {
  const readme = await readFile('plugins/transceiver/README.md', 'utf8')
  const table = /## Options\n(.*?)\n## /s.exec(readme)![1]!
  const named = [...table.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1])
  assert.deepEqual(named, Object.keys(Options.properties))
  for (const [name, schema] of Object.entries(Options.properties)) {
    if (!('default' in schema) || typeof schema.default === 'object') continue
    assert.match(table, new RegExp(`^\\| \`${name}\` +\\| \`${schema.default}\` +\\|`, 'm'), name)
  }
  const { plugins } = JSON.parse(/```json\n(.*?)```/s.exec(readme)![1]!)
  assert.deepEqual(complete(plugins.transceiver.options).problems, [])
})
