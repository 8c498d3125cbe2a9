/** The bridge as a plugin: its options, their checks, what it asks for in the handshake, and its README's example. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Value } from 'typebox/value'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import plugin from '../../../../../plugins/inference-bridge/openai-realtime/index.ts'
import {
  check,
  Options,
  type RealtimeOptions,
} from '../../../../../plugins/inference-bridge/openai-realtime/options.ts'
import {
  BACKENDS,
  capabilitiesOf,
} from '../../../../../plugins/inference-bridge/openai-realtime/pure/capabilities.ts'
import { headersFor, urlFor } from '../../../../../plugins/inference-bridge/openai-realtime/request.ts'

const FOLDER = 'plugins/inference-bridge/openai-realtime'
const README = readFileSync(`${FOLDER}/README.md`, 'utf8')
const url = 'wss://backend.example/v1/realtime'

function complete(options: object): RealtimeOptions {
  return Value.Parse(Options, Value.Default(Options, options))
}

function pointers(options: object): string[] {
  return check(complete({ url, model: 'any', ...options })).map(({ pointer }) => pointer)
}

describe('the options', () => {
  it('have an example in the README that is a good config', async () => {
    const { use, options } = JSON.parse(/```json\n(.*?)```/s.exec(README)![1]!).plugins.bridge
    assert.equal(use, `./${FOLDER}/index.ts`)
    assert.deepEqual(check(complete(options)), [])
    const { context, close } = pluginContext()
    const { bridge } = await plugin.setup(complete(options), {}, context)
    assert.deepEqual(bridge.audio, { pcm16: 24_000 })
    await close()
  })

  it('need a url, and have defaults for the rest', () => {
    assert.deepEqual(complete({ url }), {
      url,
      backend: 'openai',
      capabilities: {},
      clientModel: false,
      session: {},
      rate: 24_000,
      headers: {},
      connectTimeoutMs: 5000,
      idleTimeoutMs: 30_000,
      maxMessageBytes: 16_777_216,
      maxQueuedMs: 600_000,
    })
    for (const bad of [{}, { url: 'http://x/' }, { url, backend: 'other' }, { url, more: 1 }])
      assert.ok(!Value.Check(Options, Value.Default(Options, bad)), JSON.stringify(bad))
  })

  it('are checked: the url, the headers, and that a model is named where one is needed', () => {
    assert.deepEqual(pointers({}), [])
    assert.deepEqual(pointers({ url: 'ws://', headers: { 'a/b ~': 'x' } }), ['/url', '/headers/a~1b ~0'])
    assert.deepEqual(pointers({ url: `${url}#top` }), ['/url'])
    const nameless = (options: object) => check(complete({ url, ...options })).map(({ pointer }) => pointer)
    assert.deepEqual(nameless({}), ['/model'])
    assert.deepEqual(nameless({ backend: 'azure' }), ['/model'])
    assert.deepEqual(nameless({ clientModel: true }), [])
    assert.deepEqual(nameless({ url: `${url}?model=any` }), [])
    assert.deepEqual(nameless({ backend: 'localai' }), [])
  })
})

describe('the handshake', () => {
  it('asks for the operator’s model, or for the client’s where that is allowed', () => {
    const asked = (options: object, call: object) => urlFor(complete({ url, ...options }), call).search
    assert.equal(asked({ model: 'ours' }, { model: 'theirs' }), '?model=ours')
    assert.equal(
      asked({ model: 'ours', clientModel: true }, { model: 'theirs&x=1' }),
      '?model=theirs%26x%3D1',
    )
    assert.equal(
      asked({ model: 'ours', clientModel: true }, { session: { model: 'theirs' } }),
      '?model=theirs',
    )
    assert.equal(asked({ model: 'ours', clientModel: true }, {}), '?model=ours')
    assert.equal(asked({ url: `${url}?deployment=a`, backend: 'localai' }, {}), '?deployment=a')
  })

  it('carries the key as the backend takes it', () => {
    const carried = (options: object) => {
      const completed = complete({ url, apiKey: 'secret', ...options })
      return headersFor(completed, capabilitiesOf(completed.backend, completed.capabilities))
    }
    assert.deepEqual(carried({}), { authorization: 'Bearer secret' })
    assert.deepEqual(carried({ backend: 'azure', headers: { 'x-more': '1' } }), {
      'api-key': 'secret',
      'x-more': '1',
    })
    assert.deepEqual(carried({ capabilities: { keyHeader: 'api-key' } }), { 'api-key': 'secret' })
    assert.deepEqual(headersFor(complete({ url }), BACKENDS.openai), {})
  })
})

describe('what is known of backends', () => {
  it('is what the README says', () => {
    const yes = { yes: true, assumed: true, no: false, 'not known': false } as const
    for (const [name, can] of Object.entries(BACKENDS)) {
      const row = RegExp(`^\\| \`${name}\` .*$`, 'm').exec(README)?.[0].split('|')
      assert.ok(row, `${name} is in the table`)
      const cells = row.map((cell) => cell.trim().replaceAll('`', ''))
      const flag = (n: number) => Object.entries(yes).find(([word]) => word === cells[n])?.[1]
      assert.deepEqual(
        { ...can },
        {
          dialect: cells[2],
          formats: flag(3),
          truncate: flag(4),
          cancel: flag(5),
          retrieve: flag(6),
          tracing: flag(7),
          keyHeader: cells[8],
        },
        name,
      )
    }
  })

  it('gives way to what the operator knows', () => {
    assert.deepEqual(capabilitiesOf('xai', { cancel: true }), { ...BACKENDS.xai, cancel: true })
  })
})
