import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inPorts, parsePortRange } from '../../../../core/wire/ports.ts'

test('a port or a range of ports', () => {
  assert.deepEqual(parsePortRange('3479'), { first: 3479, last: 3479 })
  assert.deepEqual(parsePortRange('1024-65535'), { first: 1024, last: 65535 })
  for (const wrong of ['', '0', '65536', '5-4', '0-9', '-5', '5-', '1,2', ' 5', '1e3', '123456']) {
    assert.equal(parsePortRange(wrong), undefined, wrong)
  }
})

test('the ends of a range are in it', () => {
  const range = { first: 5, last: 7 }
  assert.deepEqual(
    [4, 5, 6, 7, 8].filter((port) => inPorts(range, port)),
    [5, 6, 7],
  )
})
