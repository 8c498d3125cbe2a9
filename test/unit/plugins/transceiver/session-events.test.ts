import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EdgeError } from '../../../../core/index.ts'
import {
  droppedEvents,
  endedEvent,
  MAX_DEPTH,
  parseEvent,
  toBridgeFault,
  toErrorEvent,
} from '../../../../plugins/transceiver/session-events.ts'

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

describe('a text from the data channel', () => {
  it('is an event when it is a JSON object', () => {
    const rows: [string, unknown][] = [
      ['{}', {}],
      [' {"type":"a","n":[1,{"b":null}]} ', { type: 'a', n: [1, { b: null }] }],
      ['{"type":"a","type":"b"}', { type: 'b' }],
    ]
    for (const [text, event] of rows) assert.deepEqual(parseEvent(text), event)
  })

  it('is none when it is anything else', () => {
    const rest = [
      '',
      ' ',
      'hello',
      '[]',
      '[{}]',
      'null',
      'true',
      '1',
      '"{}"',
      '{',
      '{}{}',
      '{a:1}',
      '\0',
      '{"a":}',
    ]
    for (const text of [...rest, '{'.repeat(250_000), '['.repeat(250_000), '"\\'.repeat(1000)]) {
      assert.equal(parseEvent(text), undefined, text.slice(0, 20))
    }
  })

  it('may nest so deep, brackets in its strings not counted', () => {
    assert.ok(parseEvent(nested(MAX_DEPTH)))
    assert.equal(parseEvent(nested(MAX_DEPTH + 1)), undefined)
    assert.equal(parseEvent(`{"a":${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}}`), undefined)
    const text = `\\"${'[{'.repeat(500)}\\\\`
    assert.deepEqual(parseEvent(`{"text":"${text}"}`), { text: JSON.parse(`"${text}"`) })
    assert.ok(parseEvent(`{"a":[${'[],{},'.repeat(500)}1]}`), 'many are not deep')
  })

  it('does not reach the prototype of anything', () => {
    const event = parseEvent('{"__proto__":{"admin":true}}')
    assert.equal(Object.getPrototypeOf(event), Object.prototype)
    assert.equal(event?.admin, undefined)
  })
})

describe('an error event', () => {
  it('tells a client what it did wrong', () => {
    assert.deepEqual(toErrorEvent(new EdgeError('bad_request', 'Not so.', { param: 'x' })), {
      type: 'error',
      error: { type: 'invalid_request_error', code: 'bad_request', message: 'Not so.', param: 'x' },
    })
  })

  it('tells nobody what lies behind the edge', () => {
    const secret = 'connect ECONNREFUSED 10.1.2.3:9100'
    for (const code of [
      'bridge_failed',
      'bridge_timeout',
      'internal',
      'config_invalid',
      'peer_gone',
    ] as const) {
      const event = toErrorEvent(new EdgeError(code, secret, { param: secret }))
      assert.partialDeepStrictEqual(event, {
        type: 'error',
        error: { type: 'server_error', code, param: null },
      })
      assert.doesNotMatch(JSON.stringify(event), /ECONN|10\.1/)
    }
  })

  it('is made of whatever a bridge rejects with', () => {
    const own = new EdgeError('bridge_timeout', 'too late')
    assert.equal(toBridgeFault(own), own)
    for (const cause of [new Error('password 1234'), 'a string', undefined, null, 7]) {
      const fault = toBridgeFault(cause)
      assert.equal(fault.code, 'bridge_failed')
      assert.equal(fault.cause, cause)
      assert.doesNotMatch(fault.message, /1234/)
    }
  })
})

it('the events of losses and of the end have their shapes', () => {
  assert.deepEqual(endedEvent('hang_up'), { type: 'session.ended', reason: 'hang_up' })
  assert.deepEqual(droppedEvents('m'), {
    type: 'error',
    error: { type: 'server_error', code: 'events_dropped', message: 'm', param: null },
  })
})
