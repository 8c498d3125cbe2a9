/** docs/mechanisms.md names all fifty-five, in order, and what shows each is there under the name that it says. */

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')
const PAGE = readFileSync(join(ROOT, 'docs', 'mechanisms.md'), 'utf8')
const NOT_YET = 'not yet'

const rows = [...PAGE.matchAll(/^\| (\d+) +\| .*?\| ([^|]*?) *\|$/gm)].map(([, number, shown]) => ({
  number: Number(number),
  shown: shown!,
}))

/** `path` “title”, as the cells have them. */
const evidence = [...PAGE.matchAll(/`([^`]+)` “([^”]+)”/g)].map(([, path, title]) => ({
  path: path!,
  title: title!,
}))

test('each of the fifty-five is there once, in order', () => {
  assert.deepEqual(
    rows.map(({ number }) => number),
    Array.from({ length: 55 }, (_, i) => i + 1),
  )
})

test('each is shown by something, or is said not to be', () => {
  for (const { number, shown } of rows) {
    assert.ok(shown === NOT_YET || /^`[^`]+` “[^”]+”(; `[^`]+` “[^”]+”)*$/.test(shown), `${number}: ${shown}`)
  }
})

test('each file is there, and has a test of that name', () => {
  assert.ok(evidence.length > 50)
  for (const { path, title } of evidence) {
    assert.ok(existsSync(join(ROOT, path)), path)
    assert.ok(readFileSync(join(ROOT, path), 'utf8').includes(title), `${path} has “${title}”`)
  }
})

test('what was open has a place where it was decided', () => {
  const open = PAGE.slice(PAGE.indexOf('## What was open'))
  const places = [...open.matchAll(/\| `([^`]+)` +\| `/g)].map(([, path]) => path!)
  assert.ok(places.length >= 9)
  for (const path of places) assert.ok(existsSync(join(ROOT, path)), path)
})
