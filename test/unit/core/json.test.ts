import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject, parseJsonObject } from '../../../core/json.ts'

test('only an object is one', () => {
  for (const value of [{}, { a: 1 }]) assert.ok(isJsonObject(value))
  for (const value of [null, undefined, [], 'x', 1, true]) assert.ok(!isJsonObject(value))
})

test('a text is a JSON object, or undefined', () => {
  assert.deepEqual(parseJsonObject(' {"a":[1]} '), { a: [1] })
  for (const text of ['', '{', '[{}]', 'null', '"{}"', '{} {}'])
    assert.equal(parseJsonObject(text), undefined)
})
