/**
 * `node test/bench/relay/report.ts FILE`: writes the figures of `npm run bench -- relay --json FILE` into
 * docs/performance.md, between its markers, so that nobody types them.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BenchResult } from '../result.ts'
import { replaceBetween, toMarkdown } from './report-table.ts'

const DOCUMENT = join(import.meta.dirname, '..', '..', '..', 'docs', 'performance.md')

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('node test/bench/relay/report.ts FILE')
  process.exit(64)
}
const result: BenchResult = JSON.parse(await readFile(file, 'utf8'))
const document = await readFile(DOCUMENT, 'utf8')
await writeFile(DOCUMENT, replaceBetween(document, toMarkdown(result)))
