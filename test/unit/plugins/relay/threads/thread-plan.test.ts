/** Who works in threads: every relay that can, and what the operator hears of one that cannot. */

import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import type { RoutingCodec, ThreadUdp } from '../../../../../core/index.ts'
import { pluginContext } from '../../../../../core/testing/plugin-context.ts'
import { planThreads, type ThreadPlan } from '../../../../../plugins/relay/threads/thread-plan.ts'

const threads: ThreadUdp = {
  cpus: [0, 1],
  open: () => assert.fail('a plan opens nothing'),
  control: () => assert.fail('a plan starts nothing'),
}
const encode = (): string => ''
const decode = (): undefined => undefined
const codec: RoutingCodec = { encode, decode, portable: { module: 'file:///codec.ts', data: 1 } }

function plan(
  options: Partial<Parameters<typeof planThreads>[0]>,
  hasThreads = true,
  by = codec,
): { plan: ThreadPlan | undefined; said: string[] } {
  const { context, logs } = pluginContext()
  const { threads: _none, ...udp } = context.udp
  const host = { log: context.log, udp: hasThreads ? { ...udp, threads } : udp }
  const made = planThreads({ workers: 'auto', pin: true, framing: 'spp', ...options }, by, host)
  return { plan: made, said: logs.map(({ msg }) => String(msg)) }
}

test('auto is a thread where there are two processors, in front of other clusters too', () => {
  const clusters = {
    clusters: { 2: '10.2.0.4:3490' },
    internal: { listen: '10.1.0.4:3490', cidrs: ['::/0'] },
  }
  for (const options of [{}, clusters]) {
    const { plan: made, said } = plan(options)
    assert.equal(made?.threads, availableParallelism() > 1 ? 1 : undefined)
    assert.deepEqual(said, [])
  }
})

test('as many as were asked for, pinned where there are processors for all', () => {
  assert.deepEqual(
    [plan({ workers: 2 }).plan?.pins, plan({ workers: 2, pin: false }).plan?.pins],
    [true, false],
  )
  assert.deepEqual([plan({ workers: 3 }).plan?.threads, plan({ workers: 3 }).plan?.pins], [3, false])
  assert.deepEqual(plan({ workers: 0 }), { plan: undefined, said: [] })
})

for (const [why, made] of [
  ['with nat', plan({ workers: 1, framing: 'nat' })],
  ['with a codec that stays in its thread', plan({ workers: 1 }, true, { encode, decode })],
  ['without UDP in batches', plan({ workers: 1 }, false)],
] as const) {
  test(`${why} the relay works in the event loop, and says so once`, () => {
    assert.equal(made.plan, undefined)
    assert.equal(made.said.length, 1)
    assert.match(made.said[0]!, /the relay works in the event loop$/)
  })
}

test('an engine without batches that nobody asked for threads of is no news', () => {
  assert.deepEqual(plan({}, false), { plan: undefined, said: [] })
})
