import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALL_SPANS_PER_SECOND, OPEN_SPANS_PER_SECOND } from '../../../../../plugins/relay/pure/limits.ts'
import { SpanBudget } from '../../../../../plugins/relay/pure/span-budget.ts'

test('a flood of first requests gets so many spans a second, and takes none from real calls', () => {
  const budget = new SpanBudget()
  let made = 0
  for (let i = 0; i < 10_000; i++) if (budget.take(i / 100, 'opened')) made++
  assert.equal(made, OPEN_SPANS_PER_SECOND)
  assert.equal(budget.leftOut.opened, 10_000 - OPEN_SPANS_PER_SECOND)
  assert.ok(budget.take(99, 'confirmed'))
  assert.ok(budget.take(999, 'recovered'))
  assert.ok(budget.take(1000, 'opened'), 'a second later there is room again')
})

test('the others have a bound of their own, which they share', () => {
  const budget = new SpanBudget()
  for (let i = 0; i < CALL_SPANS_PER_SECOND; i++) assert.ok(budget.take(5, i % 2 ? 'ended' : 'confirmed'))
  assert.equal(budget.take(6, 'recovered'), false)
  assert.deepEqual(budget.leftOut, { opened: 0, confirmed: 0, recovered: 1, ended: 0 })
})
