/** How the log tells of calls' ends: what happens every day is one line of information, what failed has its stack. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EdgeError, type ErrorCode } from '../../../../core/index.ts'
import { END_REASONS } from '../../../../plugins/transceiver/sessions-options.ts'
import { tellEnd, traceOf } from '../../../../plugins/transceiver/tell-end.ts'
import { recordedLog } from '../../core/host-fixture.ts'

const CALL = { id: 'a1b2c3d4e5f60708', caller: 'alice', durationMs: 1234 }

/** The line of a call that ended so, by wish unless a fault is named. */
function lineOf(reason: string, code?: ErrorCode): Record<string, unknown> {
  const { log, entries } = recordedLog()
  const fault = code && new EdgeError(code, 'what happened', { cause: new Error('the cause') })
  tellEnd(log, { ...CALL, reason, fault })
  assert.equal(entries.length, 1)
  const { time, ...line } = entries[0]!
  assert.deepEqual(typeof time, 'number')
  return line
}

const WARNINGS: Readonly<Record<string, ErrorCode>> = {
  connect_timeout: 'connect_timeout',
  dtls_failed: 'dtls_failed',
  bridge_failed: 'bridge_timeout',
  internal: 'internal',
}
const WITH_STACK = new Set(['bridge_failed', 'internal'])

for (const reason of [...END_REASONS, 'said_goodbye']) {
  const code = WARNINGS[reason]
  test(`the end of a call: ${reason}`, () => {
    const told = { ...CALL, reason, ...traceOf(CALL) }
    if (code === undefined) {
      const line = lineOf(reason, reason === 'peer_gone' ? 'peer_gone' : undefined)
      assert.deepEqual(line, { level: 30, ...told, msg: 'call ended' })
    } else if (WITH_STACK.has(reason)) {
      const { err, ...line } = lineOf(reason, code)
      assert.deepEqual(line, { level: 40, ...told, code, msg: 'call failed' })
      assert.match(JSON.stringify(err), /tell-end\.test\.ts.*the cause/)
    } else {
      const line = lineOf(reason, code)
      assert.deepEqual(line, { level: 40, ...told, code, error: 'what happened', msg: 'call failed' })
    }
  })
}

test('a line leads to the trace', () => {
  assert.match(traceOf(CALL).trace_id, /^[0-9a-f]{32}$/)
  assert.notDeepEqual(traceOf(CALL), traceOf({ id: '0000000000000000' }))
})
