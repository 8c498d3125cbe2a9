/** Each plugin's README lists the metrics that the plugin registers, with their units: those, and no others. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { type Meter, metrics } from '@opentelemetry/api'
import type { Static, TObject } from 'typebox'
import { Value } from 'typebox/value'
import type { Context } from '../../../core/index.ts'
import { pluginContext } from '../../../core/testing/plugin-context.ts'
import demo from '../../../plugins/demo/index.ts'
import { loopback } from '../../../plugins/inference-bridge/loopback/bridge.ts'
import loopbackPlugin from '../../../plugins/inference-bridge/loopback/index.ts'
import openaiRealtime from '../../../plugins/inference-bridge/openai-realtime/index.ts'
import parrot from '../../../plugins/inference-bridge/parrot/index.ts'
import websocket from '../../../plugins/inference-bridge/websocket/index.ts'
import memoryRecovery from '../../../plugins/memory-recovery/index.ts'
import { MemoryStore } from '../../../plugins/memory-recovery/store.ts'
import redisRecovery from '../../../plugins/redis-recovery/index.ts'
import relay from '../../../plugins/relay/index.ts'
import plain from '../../../plugins/routing-codec/plain/index.ts'
import { SealedCodec } from '../../../plugins/routing-codec/sealed/codec.ts'
import sealed from '../../../plugins/routing-codec/sealed/index.ts'
import transceiver from '../../../plugins/transceiver/index.ts'
import { address } from './transceiver/ice/support.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

const codec = new SealedCodec([{ id: 1, key: '00112233445566778899aabbccddeeff' }])
const recovery = new MemoryStore(10, () => performance.now())
const ingress = { addresses: [address('127.0.0.1:3478')], closesFirst() {} }

/** How to set each plugin up, with all that it can use. */
const PLUGINS: Readonly<Record<string, (context: Context) => unknown>> = {
  demo: (context) => demo.setup(complete(demo.options, {}), {}, context),
  'inference-bridge/loopback': (context) => loopbackPlugin.setup({}, {}, context),
  'inference-bridge/openai-realtime': (context) =>
    openaiRealtime.setup(
      complete(openaiRealtime.options, { url: 'ws://127.0.0.1:1/', model: 'any' }),
      {},
      context,
    ),
  'inference-bridge/parrot': (context) => parrot.setup(complete(parrot.options, {}), {}, context),
  'inference-bridge/websocket': (context) =>
    websocket.setup(complete(websocket.options, { url: 'ws://127.0.0.1:1/' }), {}, context),
  'memory-recovery': (context) => memoryRecovery.setup(complete(memoryRecovery.options, {}), {}, context),
  'redis-recovery': (context) =>
    redisRecovery.setup(
      complete(redisRecovery.options, { url: 'redis://127.0.0.1:1', secret: '00'.repeat(32) }),
      {},
      context,
    ),
  relay: (context) =>
    relay.setup(complete(relay.options, { listen: ['127.0.0.1:3478'] }), { codec, recovery }, context),
  'routing-codec/plain': (context) => plain.setup({ insecure: true }, {}, context),
  'routing-codec/sealed': (context) => sealed.setup(complete(sealed.options, {}), {}, context),
  transceiver: (context) =>
    transceiver.setup(complete(transceiver.options, {}), { codec, bridge: loopback, ingress }, context),
}

/** Options with their defaults. */
function complete<S extends TObject>(schema: S, options: object): Static<S> {
  return Value.Parse(schema, Value.Default(schema, options))
}

/** A meter that notes what is created on it, with its unit and description. */
function noting(names: Map<string, { unit?: string; description?: string }>): Meter {
  return new Proxy(metrics.getMeter('test'), {
    get(meter, property, receiver) {
      const method: unknown = Reflect.get(meter, property, receiver)
      if (typeof method !== 'function' || !String(property).startsWith('create')) return method
      return (name: string, options: { unit?: string; description?: string } = {}) => {
        assert.ok(!names.has(name), `${name} is registered twice`)
        names.set(name, options)
        return method.call(meter, name, options)
      }
    },
  })
}

function listedIn(readme: string): string[] {
  const section = /^## Metrics\n(.*?)(?=^## )/ms.exec(readme)?.[1]
  assert.ok(section, 'the README has a section on metrics')
  return [...section.matchAll(/^\| `(earshot[^`]*)` *\| ([^ |]+)/gm)].map(
    ([, name, unit]) => `${name} in ${unit}`,
  )
}

describe("each plugin's metrics", () => {
  it('are looked at', () => {
    const folders = globSync('plugins/**/README.md', { cwd: ROOT }).map((path) =>
      dirname(path).replaceAll('\\', '/').replace('plugins/', ''),
    )
    assert.deepEqual(folders.sort(), Object.keys(PLUGINS).sort())
  })

  for (const [name, setUp] of Object.entries(PLUGINS)) {
    it(`are those of its README: ${name}`, async () => {
      const created = new Map<string, { unit?: string; description?: string }>()
      const { context, close } = pluginContext({ meter: noting(created) })
      try {
        await setUp(context)
      } finally {
        await close()
      }
      const readme = readFileSync(join(ROOT, 'plugins', name, 'README.md'), 'utf8')
      const registered = [...created].map(([metric, { unit }]) => `${metric} in ${unit}`)
      assert.deepEqual(registered.sort(), listedIn(readme).sort())
      for (const [metric, { unit, description }] of created) {
        assert.match(metric, /^earshot\.[a-z_]+(\.[a-z_]+)+$/)
        assert.ok(unit && description, `${metric} has a unit and a description`)
      }
    })
  }
})
