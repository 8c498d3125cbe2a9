/** What the documents point at is there: each file that one links, and each test that docs/attacks-and-faults.md names. */

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')
const DOCUMENTS = globSync('**/*.md', { cwd: ROOT, exclude: ['node_modules', 'dist'] })

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Links within the repository, without their anchors. */
function* linksIn(text: string): Generator<string> {
  for (const [, target] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g))
    if (!/^[a-z]+:/.test(target!)) yield target!
}

/** Whether there is such a test: `unit/core/http`, or, after another in its cell, `http` or `core/http`. */
function isTest(name: string, folders: readonly string[]): boolean {
  return ['', ...folders]
    .map((folder) => join(ROOT, 'test', folder, name))
    .some((path) => existsSync(path) || existsSync(`${path}.test.ts`))
}

/** A folder, and those that it lies in. */
function* upwards(folder: string): Generator<string> {
  for (let at = folder; at !== '.'; at = dirname(at)) yield at
}

test('what the documents link is there', () => {
  for (const document of DOCUMENTS) {
    for (const target of linksIn(read(document))) {
      assert.ok(existsSync(join(ROOT, dirname(document), target)), `${document}: ${target}`)
    }
  }
})

test('the tests that show what becomes of attacks and faults are there', () => {
  let named = 0
  for (const [row, cell] of read('docs/attacks-and-faults.md').matchAll(/^\|.*\| ([^|]+) \|$/gm)) {
    const folders: string[] = []
    for (const [, name] of cell!.matchAll(/`((?!npm )[^`*]+)`/g)) {
      assert.ok(isTest(name!, folders), `${name} in: ${row.slice(0, 80)}`)
      folders.push(...upwards(dirname(name!)))
      named++
    }
  }
  assert.ok(named > 100, `${named} tests`)
})
