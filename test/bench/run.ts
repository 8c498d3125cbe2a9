/**
 * `npm run bench -- NAME [--quick] [--json FILE]`: one benchmark and its figures; without a name, what there is.
 *
 * Exit codes: 0 measured, and every target met (or --quick, whose figures mean little); 1 it could not measure; 2 a
 * target was missed.
 */

import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isObject } from '../../core/config/pointer.ts'
import type { BenchOptions, BenchResult } from './result.ts'
import { toTable } from './support/table.ts'

const NOT_BENCHES = new Set(['run', 'result'])

const benches = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .filter((name) => !NOT_BENCHES.has(name))
  .sort()

type Bench = (options: BenchOptions) => Promise<BenchResult>

async function find(name: string): Promise<Bench> {
  const module: unknown = await import(join(import.meta.dirname, `${name}.ts`))
  if (isObject(module) && isBench(module.run)) return module.run
  throw new Error(`test/bench/${name}.ts exports no run()`)
}

function isBench(value: unknown): value is Bench {
  return typeof value === 'function'
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  const [name] = positionals
  if (name === undefined || values.help) {
    console.log(
      `npm run bench -- NAME [--quick] [--json FILE]\n\n${benches.map((one) => `  ${one}`).join('\n')}`,
    )
    return 0
  }
  if (positionals.length > 1 || !benches.includes(name)) {
    console.error(`there is no benchmark "${positionals.join(' ')}"; there are: ${benches.join(', ')}`)
    return 1
  }
  const run = await find(name)
  const result = await run({ quick: values.quick })
  console.log(toTable(result, values.quick))
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`)
  const missed = result.figures.some(({ met }) => met === false)
  return missed && !values.quick ? 2 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  const isUsage = isObject(error) && String(error.code).startsWith('ERR_PARSE_ARGS')
  console.error('could not measure:', isUsage ? error.message : error)
  process.exitCode = 1
}
