import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactor } from '../../../core/config/redact.ts'
import { EdgeError } from '../../../core/errors.ts'
import { createLog, humanLine } from '../../../core/log.ts'
import { createTelemetry } from '../../../core/telemetry.ts'

function logInto(lines: string[], options: { pretty?: boolean; redact?: (text: string) => string } = {}) {
  return createLog({
    level: 'info',
    pretty: false,
    ...options,
    destination: { write: (text) => lines.push(text) },
  })
}

test('an entry is one JSON line with level, time and message', () => {
  const lines: string[] = []
  logInto(lines).info({ a: 1 }, 'hello')
  const { time, ...entry } = JSON.parse(lines[0]!)
  assert.deepEqual(entry, { level: 'info', a: 1, msg: 'hello' })
  assert.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('a span among the fields becomes its trace and span id', () => {
  const lines: string[] = []
  const span = createTelemetry({ version: '1', env: {} }).tracing.root(new Uint8Array(8), 'call')
  logInto(lines).info({ span, b: 2 }, 'answered')
  const entry = JSON.parse(lines[0]!)
  assert.equal(entry.trace_id, span.spanContext().traceId)
  assert.equal(entry.span_id, span.spanContext().spanId)
  assert.equal(entry.span, undefined)
  assert.equal(entry.b, 2)
})

test('secrets are replaced wherever they stand, also in errors and also when quoted', () => {
  const lines: string[] = []
  const log = logInto(lines, { redact: redactor(['s3cr3t-key', 'with "quotes"', 'a b/c']) })
  log.info({ url: 'redis://u:s3cr3t-key@h' }, 'key is s3cr3t-key')
  log.error({ err: new Error('got with "quotes"') }, 'x')
  log.info('see http://h/?k=a%20b%2Fc')
  assert.doesNotMatch(lines.join(''), /s3cr3t-key|quotes|a%20b/)
  for (const line of lines) JSON.parse(line)
})

test('on a terminal a line reads: time, level, plugin, message, fields', () => {
  const lines: string[] = []
  const log = logInto(lines, { pretty: true }).child({ plugin: 'relay' })
  log.warn({ n: 3, text: 'two words', list: [1] }, 'careful')
  assert.match(
    lines[0]!,
    /^\d\d:\d\d:\d\d\.\d{3} {2}warn {3}\[relay\] careful {2}n=3 {2}text="two words" {2}list=\[1\]\n$/,
  )
})

test('on a terminal an error brings its stack on lines of its own', () => {
  const line = humanLine(
    JSON.stringify({ level: 'error', time: '', msg: 'x', err: { stack: 'Error: y\n    at z' } }),
  )
  assert.match(line, /x\nError: y\n {4}at z\n$/)
})

test('on a terminal an error that was raised on purpose says its message and its cause, without a stack', () => {
  const lines: string[] = []
  const cause = new Error('connect ECONNREFUSED')
  const err = new EdgeError('bridge_failed', 'the backend is away', { cause })
  logInto(lines, { pretty: true }).warn({ err }, 'call failed')
  assert.match(lines[0]!, /call failed\n {4}the backend is away: connect ECONNREFUSED\n$/)
})

test('on a terminal nothing that a peer sent steers it', () => {
  const lines: string[] = []
  const err = new Error('said \x1b[2Jno')
  logInto(lines, { pretty: true }).warn({ name: 'a\x1b]0;b\x07', err }, 'from\r outside \x9b')
  assert.equal(/\p{Cc}/u.exec(lines[0]!.replaceAll('\n', '')), null)
  assert.match(lines[0]!, /from\\x0d outside \\x9b {2}name=a\\x1b\]0;b\\x07\nError: said \\x1b\[2Jno\n/)
})
