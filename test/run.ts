/**
 * `npm test`: lint, types, then the tests; stops at the first of the three that fails.
 * `npm test -- PATTERN …` runs only the test files whose path contains a pattern, without lint and types.
 */

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { installMissing } from './needs.ts'

const root = join(import.meta.dirname, '..')
const patterns = process.argv.slice(2)

function step(title: string, command: string, args: readonly string[]): void {
  console.log(`\n── ${title}`)
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (error) console.error(error.message)
  if (status !== 0) {
    console.error(`\n${title} failed`)
    process.exit(status ?? 1)
  }
}

function tests(title: string, files: readonly string[], concurrency: number): void {
  const chosen = files
    .filter((file) => patterns.length === 0 || patterns.some((p) => file.includes(p)))
    .sort()
  if (chosen.length === 0) return
  step(title, process.execPath, [
    '--test',
    '--test-reporter=spec',
    '--test-timeout=240000',
    `--test-concurrency=${concurrency}`,
    ...chosen,
  ])
}

installMissing()
if (patterns.length === 0) {
  step('lint', 'node_modules/.bin/biome', ['check', '--error-on-warnings', '.'])
  step('types', 'node_modules/.bin/tsc', ['--noEmit'])
}
const all = globSync('test/**/*.test.ts', { cwd: root })
const isBrowser = (file: string): boolean => file.startsWith(join('test', 'browser'))
tests(
  'tests',
  all.filter((file) => !isBrowser(file)),
  2,
)
tests('browser tests', all.filter(isBrowser), 1)
