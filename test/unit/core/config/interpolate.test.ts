import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpolate } from '../../../../core/config/interpolate.ts'

const files: Record<string, string> = { 'key.txt': 'from a file\n' }
const fill = (value: unknown, env: Record<string, string> = {}) =>
  interpolate(value, {
    env,
    readFile(path) {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error('no'), { code: 'ENOENT' })
      return text
    },
  })

test('fills variables, defaults, files and dollars, several in one string', () => {
  const env = { HOST: 'h', EMPTY: '' }
  const rows: [string, string][] = [
    ['${HOST}', 'h'],
    ['a${HOST}b${HOST}c', 'ahbhc'],
    ['${NONE:-x:-y}', 'x:-y'],
    ['${NONE:-}', ''],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${HOST:-fallback}', 'h'],
    ['${file:key.txt}', 'from a file'],
    ['$$', '$'],
    ['$${HOST}', '${HOST}'],
    ['$$${HOST}', '$h'],
    ['cost: 5$', 'cost: 5$'],
    ['$HOST', '$HOST'],
  ]
  for (const [text, expected] of rows) assert.equal(fill(text, env).value, expected, text)
})

test('what is filled in is not read again', () => {
  assert.equal(fill('${A}', { A: '${B}', B: 'no' }).value, '${B}')
})

test('keys and what is no string stay as they are', () => {
  const value = { '${A}': [1, true, null, { x: '${A}' }] }
  assert.deepEqual(fill(value, { A: 'a' }).value, { '${A}': [1, true, null, { x: 'a' }] })
  assert.deepEqual(value, { '${A}': [1, true, null, { x: '${A}' }] })
})

test('every fault is told with its pointer, and the rest is filled all the same', () => {
  const { value, problems, missing } = fill(
    { a: ['${NO}', '${A}'], 'b/c': '${file:none}', d: '${what?}' },
    { A: 'a' },
  )
  assert.deepEqual(value, { a: ['', 'a'], 'b/c': '', d: '' })
  assert.deepEqual(
    problems.map(({ pointer, message }) => [pointer, message]),
    [
      ['/a/0', 'environment variable NO is not set'],
      ['/b~1c', 'file none cannot be read (ENOENT)'],
      ['/d', '${what?} is no placeholder'],
    ],
  )
  assert.deepEqual([...missing], ['/a/0', '/b~1c', '/d'])
})

test('what came out of a file is known, so that it can be kept secret', () => {
  assert.deepEqual(fill('x ${file:key.txt}').fromFiles, ['from a file'])
})

test('names of the prototype are no variables', () => {
  assert.equal(fill('${constructor}').problems.length, 1)
})
