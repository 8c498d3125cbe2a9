import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { SpanLog } from '../../../../core/testing/span-log.ts'

const SESSION = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)

test('a span log knows whose trace a span is in, and whether it was ended', () => {
  const { spans, tracer, tracing } = new SpanLog()
  const parent = tracing.parent(SESSION)
  const outer = tracer.startSpan('outer', {}, parent)
  tracer.startSpan('inner', {}, trace.setSpan(parent, outer)).end()
  tracer.startActiveSpan('active', {}, parent, (span) => span.end())
  tracer.startActiveSpan('stray', (span) => span.end())
  tracer.startSpan('elsewhere', {}, ROOT_CONTEXT)
  assert.deepEqual(
    spans.map(({ name, session, ended }) => [name, session, ended]),
    [
      ['outer', '0102030405060708', false],
      ['inner', '0102030405060708', true],
      ['active', '0102030405060708', true],
      ['stray', undefined, true],
      ['elsewhere', undefined, false],
    ],
  )
  outer.end()
  assert.ok(spans[0]!.ended)
})
