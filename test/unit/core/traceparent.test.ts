import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTraceparent } from '../../../core/traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

test('a traceparent names a span of another process', () => {
  const context = { traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true }
  assert.deepEqual(readTraceparent(`00-${TRACE}-${SPAN}-01`), context)
  assert.deepEqual(readTraceparent(`00-${TRACE}-${SPAN}-00`), { ...context, traceFlags: 0 })
})

test('what is no traceparent names nothing', () => {
  for (const header of [
    undefined,
    '',
    [`00-${TRACE}-${SPAN}-01`],
    `01-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-x`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
  ]) {
    assert.equal(readTraceparent(header), undefined, String(header))
  }
})
