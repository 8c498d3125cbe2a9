/** The queue of writes: in order, the newest of each flow, bounded, and nothing that is too old. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TTL_MS, type Write, WriteQueue } from '../../../../../plugins/redis-recovery/pure/write-queue.ts'

/** `a=1` for a flow noted, `a-1` for one forgotten. */
const shown = (writes: readonly Write[]): string =>
  writes
    .map(
      (write) => write.identity + (write.type === 'remember' ? `=${write.route}` : `-${write.transceiver}`),
    )
    .join(' ')

test('writes leave in the order in which they came, so many at a time', () => {
  const queue = new WriteQueue(10)
  for (const [i, id] of ['a', 'b', 'c'].entries()) queue.remember(i, id, '1')
  assert.equal(queue.size, 3)
  assert.equal(shown(queue.take(3, 2)), 'a=1 b=1')
  assert.equal(shown(queue.take(3, 2)), 'c=1')
  assert.deepEqual(queue.take(3, 2), [])
})

test('a flow that is noted again is written once, as it is now', () => {
  const queue = new WriteQueue(10)
  queue.remember(0, 'a', '1')
  queue.remember(1, 'b', '1')
  queue.remember(2, 'a', '2')
  assert.equal(shown(queue.take(3, 10)), 'b=1 a=2')
})

test('what is forgotten in between keeps its place', () => {
  const queue = new WriteQueue(10)
  queue.remember(0, 'a', '1')
  queue.forget(1, 'a', '1')
  assert.equal(shown(queue.take(2, 10)), 'a=1 a-1')
  queue.remember(3, 'a', '1')
  queue.forget(4, 'a', '1')
  queue.remember(5, 'a', '1')
  assert.equal(shown(queue.take(6, 10)), 'a-1 a=1')
  queue.forget(7, 'a', '1')
  queue.forget(8, 'a', '2')
  queue.forget(9, 'a', '1')
  assert.equal(shown(queue.take(9, 10)), 'a-2 a-1')
})

test('when it is full the oldest goes, and is counted', () => {
  const queue = new WriteQueue(2)
  for (const id of ['a', 'b', 'c', 'd']) queue.remember(0, id, '1')
  assert.equal(queue.size, 2)
  assert.deepEqual(queue.dropped, { overflow: 2, expired: 0 })
  queue.remember(0, 'c', '2')
  assert.equal(queue.dropped.overflow, 2, 'one that replaces another needs no room')
  assert.equal(shown(queue.take(0, 10)), 'd=1 c=2')
})

test('what waited longer than an entry lives is not written, and is counted', () => {
  const queue = new WriteQueue(10)
  queue.remember(0, 'a', '1')
  queue.forget(0, 'b', '1')
  queue.remember(1, 'c', '1')
  assert.equal(shown(queue.take(TTL_MS, 10)), 'c=1')
  assert.deepEqual(queue.dropped, { overflow: 0, expired: 2 })
})
