import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hintFor, suggest } from '../../../../core/config/suggest.ts'

test('finds the nearest word within a third of its length', () => {
  const known = ['listen', 'workers', 'mode', 'tls']
  const rows: [string, string | undefined][] = [
    ['lisen', 'listen'],
    ['LISTEN', 'listen'],
    ['wrokers', 'workers'],
    ['worker', 'workers'],
    ['mdoe', 'mode'],
    ['tsl', 'tls'],
    ['zzzzz', undefined],
    ['x', undefined],
    ['', undefined],
  ]
  for (const [word, expected] of rows) assert.equal(suggest(word, known), expected, word)
})

test('a hint falls back when nothing is near', () => {
  assert.equal(hintFor('lisen', ['listen'], 'else'), 'did you mean "listen"?')
  assert.equal(hintFor('zzzzz', ['listen'], 'else'), 'else')
  assert.equal(hintFor('zzzzz', ['listen']), undefined)
})
