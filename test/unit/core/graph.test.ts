import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Instance, wire } from '../../../core/graph.ts'
import { type Keys, service } from '../../../core/index.ts'
import { plain } from './host-fixture.ts'

interface Wants {
  requires?: Keys
  optional?: Keys
  provides?: Keys
  bind?: Record<string, string>
}

const [A, B, C] = [service<1>('a'), service<2>('b'), service<3>('c')]

function instance(id: string, { bind = {}, ...keys }: Wants = {}): Instance {
  return { id, use: './x.ts', plugin: plain(() => ({}), keys), options: {}, bind }
}

const ids = (instances: readonly Instance[]): string[] => wire(instances).order.map(({ id }) => id)
const messages = (instances: readonly Instance[]): string[] =>
  wire(instances).problems.map((one) => one.message)

test('givers come before takers, however deep, and nothing else is moved', () => {
  const all = [
    instance('four', { requires: { x: C } }),
    instance('free'),
    instance('three', { requires: { x: B }, provides: { y: C } }),
    instance('two', { requires: { x: A }, provides: { y: B } }),
    instance('one', { provides: { y: A } }),
  ]
  assert.deepEqual(ids(all), ['one', 'two', 'three', 'four', 'free'])
})

test('an optional service orders too, when somebody gives it', () => {
  assert.deepEqual(ids([instance('a', { optional: { x: A } }), instance('b', { provides: { y: A } })]), [
    'b',
    'a',
  ])
  assert.deepEqual(ids([instance('a', { optional: { x: A } })]), ['a'])
})

test('a plugin that wraps a service takes it from another, never from itself', () => {
  const wrapper = instance('wrapper', { requires: { inner: A }, provides: { outer: A } })
  const giver = instance('giver', { provides: { y: A } })
  const user = instance('user', { requires: { x: A }, bind: { x: 'wrapper' } })
  assert.deepEqual(ids([user, wrapper, giver]), ['giver', 'wrapper', 'user'])
  assert.deepEqual(messages([wrapper]), ['needs a, and no plugin in this file provides it'])
})

test('a circle of three is told once, as a circle', () => {
  const all = [
    instance('free'),
    instance('x', { requires: { n: A }, provides: { g: B } }),
    instance('y', { requires: { n: B }, provides: { g: C } }),
    instance('z', { requires: { n: C }, provides: { g: A } }),
  ]
  assert.deepEqual(messages(all), ['plugins need each other in a circle: x → z → y → x'])
  assert.deepEqual(ids(all), [])
})

test('what a plugin that could not be loaded may give is not called missing', () => {
  const taker = instance('taker', { requires: { x: A }, bind: { x: 'unloaded' } })
  assert.deepEqual(wire([taker], [], true).problems, [])
  assert.equal(wire([taker]).problems.length, 1)
})

test('names of the prototype are no binds', () => {
  const keys: Keys = { constructor: A }
  const all = [instance('x', { requires: keys }), instance('g', { provides: { y: A } })]
  assert.deepEqual(ids(all), ['g', 'x'])
})
