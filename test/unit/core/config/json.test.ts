import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonFault, readJson, toValue } from '../../../../core/config/json.ts'

/** What JSON.parse makes of a text, or undefined when it refuses. */
function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function read(text: string): { value: unknown } | undefined {
  try {
    return { value: toValue(readJson(text)) }
  } catch (fault) {
    assert.ok(fault instanceof JsonFault, String(fault))
    assert.ok(fault.at >= 0 && fault.at <= text.length)
    return undefined
  }
}

test('reads any JSON value as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      assert.deepEqual(read(text), parsed(text))
    }),
  )
})

test('accepts and refuses exactly what JSON.parse accepts and refuses', () => {
  const pieces = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"a"',
      '"',
      '\\',
      '\\u0',
      '0',
      '-',
      '1.5',
      '1.',
      'e3',
      'true',
      'nul',
      'null',
    ],
    ...[' ', '\n', '\u00a0', '\ufeff', '\t', "'", '//'],
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (list) => {
      const text = list.join('')
      // A byte order mark in front is the one thing that is let pass.
      if (!text.startsWith('\ufeff')) assert.deepEqual(read(text), parsed(text), JSON.stringify(text))
    }),
    { numRuns: 3000 },
  )
})

test('a byte order mark in front is passed over', () => {
  assert.deepEqual(read('\ufeff{"a":1}'), { value: { a: 1 } })
})

test('nesting without end is refused, not fatal', () => {
  assert.equal(read('['.repeat(100_000)), undefined)
})

test('"__proto__" is a key like any other', () => {
  const value = toValue(readJson('{"__proto__":{"x":1}}'))
  assert.deepEqual(Object.keys(value ?? {}), ['__proto__'])
})
