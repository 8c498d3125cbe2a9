/** A call through a relay process and a transceiver process, read back from Jaeger while it runs and when it is over. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guideTree } from '../integration/support/guide-tree.ts'
import { CALLER, tracedCall } from '../integration/support/traced-call.ts'
import { spanTree } from '../peers/otlp-receiver.ts'
import { hangUpAt } from '../peers/signaling.ts'
import { Jaeger, type JaegerSpan } from './jaeger.ts'

const PROGRAM = process.env.EARSHOT_JAEGER ?? ''

const named = ({ spans }: { spans: readonly JaegerSpan[] }, name: string): JaegerSpan => {
  const span = spans.find(({ operationName }) => operationName === name)
  assert.ok(span, `Jaeger has ${name}`)
  return span
}

const tagOf = ({ tags }: JaegerSpan, name: string): unknown => tags.find(({ key }) => key === name)?.value

test('Jaeger shows a call that runs, and the whole of it when it has ended', async () => {
  await using jaeger = await Jaeger.start(PROGRAM)
  await using call = await tracedCall(jaeger.otlp)
  const { relay, client, session, traceId, spanId } = call

  const running = ['call.offer', 'relay.flow.confirm', 'dtls.handshake', 'audio.sent']
  const early = await jaeger.traceWith(traceId, running)
  assert.ok(!early.spans.some(({ operationName }) => operationName === 'call'))

  await hangUpAt(client.url!)
  await client.ended
  await relay.stop()
  await jaeger.traceWith(traceId, ['call', 'relay.flow'])
  const expected = guideTree().map((line) => line.trim())
  const whole = await jaeger.traceWith(traceId, expected)

  const spans = whole.spans.map((span) => ({
    name: span.operationName,
    spanId: span.spanID,
    parentSpanId: span.references.find(({ refType }) => refType === 'CHILD_OF')?.spanID ?? '',
    start: span.startTime,
    end: span.startTime + span.duration,
  }))
  const tree = spanTree(spans)
  console.log(tree)
  assert.deepEqual(tree.split('\n').sort(), guideTree().sort())
  const root = named(whole, 'call')
  assert.equal(root.spanID, spanId)
  assert.equal(tagOf(root, 'earshot.call.end_reason'), 'hang_up')
  assert.equal(tagOf(root, 'session.id'), session)
  assert.ok(
    root.references.some(({ traceID }) => traceID === CALLER.traceId),
    'it links to the caller’s trace',
  )
  assert.notEqual(named(whole, 'relay.flow').processID, root.processID, 'two processes')
  for (const { serviceName } of Object.values(whole.processes)) assert.equal(serviceName, 'earshot')
  for (const span of whole.spans) assert.equal(tagOf(span, 'error'), undefined, span.operationName)
})
