/** An outage begins once, ends once, and takes no notice of what flaps. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Outage, STEADY_MS } from '../../../../../plugins/redis-recovery/pure/outage.ts'

test('it begins with the first fault and is over when all has worked for a while', () => {
  const outage = new Outage()
  assert.equal(outage.failed(1000, 'link', 'unreachable'), 'down')
  assert.equal(outage.failed(1500, 'link', 'unreachable'), undefined)
  assert.equal(outage.over(9000), undefined)
  outage.worked(9000, 'link')
  assert.equal(outage.over(9000), 8000)
  assert.equal(outage.over(9001), undefined, 'it is told once')
  assert.ok(!outage.isDown)
  assert.equal(outage.failed(20_000, 'link', 'unreachable'), 'down')
  assert.equal(outage.count, 2)
})

test('what flaps stays down', () => {
  const outage = new Outage()
  let news = 0
  for (let now = 0; now < 60_000; now += 1000) {
    if (outage.failed(now, 'link', 'unreachable')) news++
    outage.worked(now + 500, 'link')
    assert.equal(outage.over(now + 999), undefined)
  }
  assert.equal(news, 1)
  assert.equal(outage.over(59_000 + STEADY_MS), 59_500)
})

test('reads that work do not end the refusal of writes, nor does a new connection', () => {
  const outage = new Outage()
  assert.equal(outage.failed(0, 'writes', 'OOM'), 'down')
  outage.worked(100, 'reads')
  outage.worked(200, 'link')
  assert.equal(outage.over(60_000), undefined)
  outage.worked(60_000, 'writes')
  assert.equal(outage.over(60_000), 60_000)
})

test('another cause in one outage is told once; ever new ones are not', () => {
  const outage = new Outage()
  assert.equal(outage.failed(0, 'link', 'unreachable'), 'down')
  assert.equal(outage.failed(1, 'link', 'WRONGPASS'), 'still')
  assert.equal(outage.failed(2, 'link', 'unreachable'), undefined)
  assert.equal(outage.failed(3, 'link', 'WRONGPASS'), undefined)
  assert.equal(outage.failed(4, 'link'), undefined)
  const news = Array.from({ length: 100 }, (_, i) => outage.failed(5 + i, 'writes', `WORD${i}`))
  assert.equal(news.filter(Boolean).length, 2)
})
