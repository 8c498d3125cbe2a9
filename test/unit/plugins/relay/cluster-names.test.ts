/** The names of other clusters' relays: a resolver and a clock that a test moves. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import { ClusterNames, otherNames, reachedFrom } from '../../../../plugins/relay/cluster-names.ts'
import { OtherClusters } from '../../../../plugins/relay/pure/other-clusters.ts'
import { at } from './simulated-relay.ts'

const NAME = 'relay.two.internal'
const AGAIN_MS = 10_000

/** A look-up that waits for the test to answer it. */
interface Asked {
  readonly host: string
  answer(...ips: string[]): Promise<void>
  fail(): Promise<void>
}

/** All that was promised has been done. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(() => setImmediate(resolve)))

function setUp(t: TestContext, names: Record<string, string>, from = '10.9.0.4:3500') {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const asked: Asked[] = []
  const { context, logs } = pluginContext()
  const clusters = new OtherClusters(Object.keys(names).map(Number))
  const finder = new ClusterNames({
    names,
    clusters,
    log: context.log,
    reaches: reachedFrom(at(from)),
    resolve(host) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
      asked.push({
        host,
        answer(...ips) {
          resolve(ips)
          return settled()
        },
        fail() {
          reject(new Error('ENOTFOUND'))
          return settled()
        },
      })
      return promise
    },
  })
  t.after(() => finder.close())
  return {
    asked,
    clusters,
    finder,
    relay: (cluster = 2) => String(clusters.relayOf(cluster)),
    said: (level: number) => logs.filter((line) => line.level === level).map(({ cluster }) => cluster),
    /** The next look-up of the only name. */
    again(): Asked {
      t.mock.timers.tick(AGAIN_MS)
      return asked.at(-1)!
    },
  }
}

test('addresses that are written down are there at once, and nobody is asked about them', (t) => {
  const { asked, relay, again } = setUp(t, { 2: '10.2.0.4:3490', 3: '[::ffff:10.3.0.4]:3491' })
  assert.deepEqual([relay(2), relay(3)], ['10.2.0.4:3490', '10.3.0.4:3491'])
  again()
  assert.equal(asked.length, 0)
})

test('a name is asked for at the start and every ten seconds, and its address changes with it', async (t) => {
  const { asked, relay, said, again } = setUp(t, { 2: `${NAME}:3490` })
  assert.deepEqual([asked.length, asked[0]!.host, relay()], [1, NAME, 'undefined'])
  await asked[0]!.answer('10.2.0.4')
  assert.equal(relay(), '10.2.0.4:3490')
  await again().answer('10.2.0.4')
  assert.deepEqual(said(30), [2], 'what has not changed is not told again')
  await again().answer('10.2.0.5')
  assert.equal(relay(), '10.2.0.5:3490')
  assert.deepEqual([asked.length, said(30), said(40)], [3, [2, 2], []])
})

test('while a name cannot be resolved its last address stays; that is told once, and its end once', async (t) => {
  const { asked, relay, said, again } = setUp(t, { 2: `${NAME}:3490`, 3: '10.3.0.4:3490' })
  await asked[0]!.fail()
  assert.deepEqual([relay(2), relay(3)], ['undefined', '10.3.0.4:3490'])
  await again().fail()
  assert.deepEqual([said(40), said(30)], [[2], []])
  await again().answer('10.2.0.4')
  assert.deepEqual([relay(), said(30)], ['10.2.0.4:3490', [2]])
  for (let i = 0; i < 3; i++) await again().fail()
  await again().answer()
  assert.deepEqual([relay(), said(40)], ['10.2.0.4:3490', [2, 2]])
  await again().answer('10.2.0.4')
  assert.deepEqual([relay(), said(30)], ['10.2.0.4:3490', [2, 2]])
})

test('of several answers the first is taken, and stays as long as it is among them', async (t) => {
  const { asked, relay, said, again } = setUp(t, { 2: `${NAME}:3490` })
  await asked[0]!.answer('10.2.0.5', '10.2.0.4')
  for (const answer of [
    ['10.2.0.4', '10.2.0.5'],
    ['10.2.0.6', '10.2.0.4', '10.2.0.5'],
  ]) {
    await again().answer(...answer)
    assert.equal(relay(), '10.2.0.5:3490')
  }
  await again().answer('10.2.0.6', '10.2.0.4')
  assert.deepEqual([relay(), said(30).length], ['10.2.0.6:3490', 2])
})

for (const [from, name, answer, found] of [
  ['10.9.0.4:0', NAME, ['fd02::4', '10.2.0.4'], '10.2.0.4:3490'],
  ['[fd09::4]:0', NAME, ['10.2.0.4', 'fd02::4'], '[fd02::4]:3490'],
  ['[::]:0', NAME, ['10.2.0.4', 'fd02::4'], '10.2.0.4:3490'],
  ['0.0.0.0:0', NAME, ['fd02::4', '10.2.0.4'], '10.2.0.4:3490'],
  ['10.9.0.4:0', NAME, ['fd02::4'], 'undefined'],
  ['10.9.0.4:0', '[fd02::4]', [], 'undefined'],
  ['[fd09::4]:0', '10.2.0.4', [], 'undefined'],
  ['[fd09::4]:0', '[fd02::4]', [], '[fd02::4]:3490'],
  ['[::]:0', '10.2.0.4', [], '10.2.0.4:3490'],
] as const) {
  test(`sockets at ${from} reach of ${name} ${answer.join(' and ')}: ${found}`, async (t) => {
    const { asked, relay, said, again } = setUp(t, { 2: `${name}:3490` }, from)
    for (let i = 0; i < 2; i++) {
      await asked[i]?.answer(...answer)
      again()
    }
    assert.equal(relay(), found)
    if (found === 'undefined') assert.deepEqual([said(40), said(30)], [[2], []])
    else assert.deepEqual(said(40), [])
  })
}

test('of a list that all relays share, our own cluster is left out', () => {
  const clusters = { 1: '10.1.0.4:3490', '02': '10.2.0.4:3490', 3: '10.3.0.4:3490' }
  assert.deepEqual(Object.keys(otherNames({ clusters }, 2)), ['1', '3'])
  assert.deepEqual(otherNames({}, 2), {})
})

test('a name that is slow to be resolved is not asked for again meanwhile, others are', async (t) => {
  const { asked, relay, again } = setUp(t, { 2: `${NAME}:3490`, 3: 'relay.three.internal:3490' })
  await asked[1]!.answer('10.3.0.4')
  for (let i = 0; i < 3; i++) await again().answer('10.3.0.4')
  assert.deepEqual(
    asked.map(({ host }) => host),
    [NAME, ...Array<string>(4).fill('relay.three.internal')],
  )
  await asked[0]!.answer('10.2.0.4')
  assert.equal(relay(2), '10.2.0.4:3490')
  again()
  assert.equal(asked.filter(({ host }) => host === NAME).length, 2)
})

test('once closed it asks no more, and what comes then changes and says nothing', async (t) => {
  const { asked, relay, said, finder, again } = setUp(t, {
    2: `${NAME}:3490`,
    3: 'relay.three.internal:3490',
    4: 'relay.four.internal:3490',
  })
  await asked[2]!.answer('10.4.0.4')
  finder.close()
  again()
  assert.equal(asked.length, 3)
  await asked[0]!.answer('10.2.0.4')
  await asked[1]!.fail()
  assert.deepEqual([relay(2), relay(4), said(30), said(40)], ['undefined', '10.4.0.4:3490', [4], []])
})
