import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REDACTED, redactor } from '../../../../core/config/redact.ts'

test('replaces every secret, the longer one where one holds the other', () => {
  const redact = redactor(['abcd', 'abcdef'])
  assert.equal(redact('abcdef abcd'), `${REDACTED} ${REDACTED}`)
})

test('patterns in a secret are plain text, and so is what replaces it', () => {
  assert.equal(redactor(['a.*$&'])('a.*$& abc'), `${REDACTED} abc`)
})

test('very short secrets are left alone, and no secrets change nothing', () => {
  assert.equal(redactor(['abc'])('abc'), 'abc')
  assert.equal(redactor([])('text'), 'text')
})
