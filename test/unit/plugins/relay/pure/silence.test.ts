import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Silence } from '../../../../../plugins/relay/pure/silence.ts'

test('silence lasts from the last packet that came down, and for ever when none ever did', () => {
  const silence = new Silence()
  assert.equal(silence.lasts(5), Number.POSITIVE_INFINITY)
  silence.note(10, 0)
  assert.equal(silence.lasts(10), Number.POSITIVE_INFINITY)
  silence.note(1000, 7)
  silence.note(2000, 7)
  assert.equal(silence.lasts(2500), 1500)
  silence.note(3000, 8)
  assert.equal(silence.lasts(3000), 0)
})
