import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJson } from '../../../../core/config/json.ts'
import { duplicates, locate, placeOf } from '../../../../core/config/locate.ts'
import { isObject, join } from '../../../../core/config/pointer.ts'

const keys = fc.constantFrom(
  'a',
  'b/c',
  'd~e',
  '~1',
  'q"uote',
  '}{',
  'é',
  '😀',
  ',:',
  '',
  '\n',
  '0',
  '__proto__',
)
const values = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(1, -2.5e3, true, null, 'x', 'a"]}', '\\', '', '{"a":1}'),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(keys, tie('any'), { maxKeys: 5 }),
  ),
})).any

/** Calls `each` for everything inside a value, with its pointer. */
function walk(value: unknown, pointer: string, each: (pointer: string, starts: string) => void): void {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const open = Array.isArray(item) ? '[' : isObject(item) ? '{' : JSON.stringify(item)
      each(join(pointer, i), open)
      walk(item, join(pointer, i), each)
    }
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      each(join(pointer, key), JSON.stringify(key))
      walk(item, join(pointer, key), each)
    }
  }
}

test("every pointer leads to its property's key or its item's value", () => {
  fc.assert(
    fc.property(values, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const lines = text.split('\n')
      const tree = readJson(text)
      walk(value, '', (pointer, starts) => {
        const { line, column } = locate(text, tree, pointer)
        const rest = [lines[line - 1]!.slice(column - 1), ...lines.slice(line)].join('\n')
        assert.ok(rest.startsWith(starts), `${pointer} leads to ${rest.slice(0, 20)}`)
      })
    }),
    { numRuns: 500 },
  )
})

test('a pointer that leads nowhere leads to its nearest parent', () => {
  const text = '{\n  "a": { "b": 1 }\n}'
  const tree = readJson(text)
  assert.deepEqual(locate(text, tree, '/a/c/d'), { line: 2, column: 3 })
  assert.deepEqual(locate(text, tree, '/a/b/c'), { line: 2, column: 10 })
  assert.deepEqual(locate(text, tree, '/x'), { line: 1, column: 1 })
  assert.deepEqual(locate(text, tree, ''), { line: 1, column: 1 })
})

test('of a key that comes twice the last is meant, as in the value', () => {
  const text = '{ "a": 1,\n "a": 2 }'
  assert.deepEqual(locate(text, readJson(text), '/a'), { line: 2, column: 2 })
})

test('carriage returns and astral characters count as editors count', () => {
  assert.deepEqual(placeOf('a\r\nb', 3), { line: 2, column: 1 })
  assert.deepEqual(placeOf('😀b', 2), { line: 1, column: 3 })
})

test('duplicate keys are found at every depth, each against the first', () => {
  const text = '{"a":[{"b":1,"b":2,"b":3}],"a":{}}'
  const found = duplicates(readJson(text)).map(({ pointer, at, first }) => [pointer, at, first])
  assert.deepEqual(found, [
    ['/a/0/b', 13, 7],
    ['/a/0/b', 19, 7],
    ['/a', 27, 1],
  ])
})
