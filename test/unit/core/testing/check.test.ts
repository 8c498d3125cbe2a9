import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, withPatience } from '../../../../core/testing/check.ts'

test('eventually waits for what comes late, and names what does not come', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  let asked = 0
  await eventually('it came', () => {
    now += 1000
    return ++asked === 11
  })
  const never = () => {
    now += 1000
    return false
  }
  await assert.rejects(eventually('pigs flew', never), /it never came to be that pigs flew/)
  const began = now
  await assert.rejects(withPatience(3000, () => eventually('pigs flew', never)))
  assert.ok(now - began < 6000)
})
