/** The benchmarks run: four of them, quickly. What they measure here means nothing. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { allowedCpus } from '../../core/ffi/cpus.ts'
import { libc } from '../../core/ffi/libc.ts'
import type { BenchResult } from './result.ts'
import { toTable } from './support/table.ts'

const run = promisify(execFile)
const RUNNER = join(import.meta.dirname, 'run.ts')

async function bench(name: string): Promise<{ stdout: string; result: BenchResult }> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'))
  const file = join(folder, 'result.json')
  try {
    const { stdout } = await run(process.execPath, [RUNNER, name, '--quick', '--json', file])
    return { stdout, result: JSON.parse(await readFile(file, 'utf8')) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const calls = libc()
const noRelay =
  calls !== undefined && allowedCpus(calls).length > 1
    ? false
    : 'the relay is measured on 64-bit Linux with koffi and two processors'

for (const name of ['srtp', 'packet', 'codec', 'relay']) {
  it(`the benchmark ${name} measures and prints ratios`, { skip: name === 'relay' && noRelay }, async () => {
    const { stdout, result } = await bench(name)
    assert.equal(result.name, name)
    for (const { label, value, peers } of result.figures) {
      // Of garbage collections there may be none.
      assert.ok(value > 0 || (value === 0 && /collections|scavenges/.test(label)), `${label}: ${value}`)
      for (const peer of peers) assert.ok(peer.ratio > 0 && Number.isFinite(peer.ratio))
      assert.ok(stdout.includes(label), stdout)
    }
  })
}

describe('the benchmarks’ command', () => {
  it('lists them without a name', async () => {
    const { stdout } = await run(process.execPath, [RUNNER])
    for (const name of ['codec', 'first-sound', 'memory', 'packet', 'relay', 'setup', 'srtp'])
      assert.match(stdout, RegExp(`^  ${name}$`, 'm'))
  })

  it('fails for a name that there is none of', async () => {
    await assert.rejects(run(process.execPath, [RUNNER, 'nothing']), { code: 1 })
  })

  it('says which targets were missed', () => {
    const figure = { label: 'a thing', value: 12.345, unit: 'µs', target: '≤ 1×' }
    const peers = [{ label: 'another', value: 10, ratio: 1.2345 }]
    const table = toTable({ name: 'x', figures: [{ ...figure, peers, met: false }] }, false)
    assert.match(table, /a thing +12\.3 µs +another 10\.0 µs +1\.23× +≤ 1× +MISSED/)
  })
})
