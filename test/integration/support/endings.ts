/** What an edge's log says of how calls ended, each line checked for what every such line must have. */

import assert from 'node:assert/strict'
import type { LogLine } from '../../peers/edge.ts'

const WARN = 40
const INFO = 30

/** Ends with a stack, and ends of which there is more to say than the reason; all others are a line of information. */
const WITH_STACK = new Set(['bridge_failed', 'internal'])
const WITH_ERROR = new Set(['connect_timeout', 'dtls_failed'])

/** The reasons, in order. A call has one line; nothing else that a plugin has logged is more than information. */
export function endings(log: readonly LogLine[]): unknown[] {
  const lines = log.filter(({ msg }) => msg === 'call ended' || msg === 'call failed')
  assert.deepEqual(
    log.filter((line) => line.plugin !== undefined && line.level >= WARN && !lines.includes(line)),
    [],
  )
  assert.equal(new Set(lines.map(({ id }) => id)).size, lines.length)
  return lines.map(checked)
}

function checked({ level, reason, id, trace_id, err, error, durationMs }: LogLine): unknown {
  const hasStack = WITH_STACK.has(String(reason))
  const hasError = WITH_ERROR.has(String(reason))
  assert.equal(level, hasStack || hasError ? WARN : INFO, String(reason))
  assert.equal(typeof stackOf(err), hasStack ? 'string' : 'undefined', String(reason))
  assert.equal(typeof error, hasError ? 'string' : 'undefined', String(reason))
  assert.match(String(id), /^[0-9a-f]{16}$/)
  assert.match(String(trace_id), /^[0-9a-f]{32}$/)
  assert.equal(typeof durationMs, 'number')
  return reason
}

function stackOf(err: unknown): unknown {
  return typeof err === 'object' && err !== null && 'stack' in err ? err.stack : undefined
}
