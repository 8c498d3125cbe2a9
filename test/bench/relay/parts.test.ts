/** The parts of the relay's benchmark that are arithmetic. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { StunSummary } from '../../../core/index.ts'
import { readStun } from '../../../core/wire/stun.ts'
import type { BenchResult } from '../result.ts'
import { countCollections } from './collections.ts'
import { answer, confirmedFlow, MEDIA_BYTES, Requests, sentAt, viewsOf, writeMedia } from './datagrams.ts'
import { Histogram } from './histogram.ts'
import { atLeast, atMost, beside } from './judges.ts'
import { processTimes, residentBytes } from './proc.ts'
import { replaceBetween, toMarkdown } from './report-table.ts'

describe('the histogram', () => {
  it('gives quantiles within 1.6%', () => {
    const times = new Histogram()
    for (let i = 1; i <= 10_000; i++) times.add(i / 1000)
    for (const part of [0.01, 0.5, 0.99]) {
      const wanted = part * 10_000
      assert.ok(Math.abs(times.quantile(part) - wanted) < wanted * 0.017, `${part}: ${times.quantile(part)}`)
    }
    times.clear()
    assert.equal(times.quantile(0.5), 0)
  })
})

describe('the load’s datagrams', () => {
  it('tell when they were sent, in their own run only', () => {
    const views = viewsOf(Buffer.allocUnsafeSlow(320).fill(0))
    writeMedia(views, 160, 70_000, 3, 1234.5)
    assert.equal(sentAt(views, 160, MEDIA_BYTES, 3), 1234.5)
    assert.equal(sentAt(views, 160, MEDIA_BYTES, 4), -1)
    assert.equal(sentAt(views, 0, MEDIA_BYTES, 3), -1)
  })

  it('are Binding requests that a relay reads, and their answers name the flow', () => {
    const bytes = Buffer.allocUnsafeSlow(320).fill(0)
    const views = viewsOf(bytes)
    const requests = new Requests(20, (index) => `ufrag${index}`)
    const length = requests.write(views, 8, 17)
    const stun = new StunSummary()
    assert.ok(readStun(bytes, 8, 8 + length, stun))
    assert.equal(bytes.toString('latin1', stun.ufragStart, stun.ufragEnd), 'ufrag2')
    assert.equal(confirmedFlow(views, 8), -1)
    answer(bytes, 8)
    assert.equal(confirmedFlow(views, 8), 17)
  })
})

describe('figures', () => {
  const of = (name: string): number | undefined => ({ ours: 11, 'C loop': 10, Go: 10.5 })[name]

  it('are judged by their peers', () => {
    const met = (judge: Parameters<typeof beside>[5]) =>
      beside('x', 'ns', of, 'ours', ['C loop', 'Go'], judge)[0]?.met
    assert.equal(met(atMost(1.1, 'C loop')), true)
    assert.equal(met(atMost(1.05, 'C loop')), false)
    assert.equal(met(atMost(1.1, 'C loop', true)), false)
    assert.equal(met(atLeast(1.15, 'C loop')), false)
    assert.equal(met(atMost(1.1, 'nginx stream')), undefined)
  })

  it('become a table between the markers of a document', () => {
    const figures = beside('a thing', 'ns', of, 'ours', ['C loop'], atMost(1.05, 'C loop'))
    const result: BenchResult = { name: 'relay', figures, notes: ['gcc 12'] }
    const before = 'a\n<!-- relay: written by test/bench/relay/report.ts -->\nold\n<!-- relay: end -->\nz\n'
    const after = replaceBetween(before, toMarkdown(result))
    assert.match(
      after,
      /\| a thing \| 11\.0 ns \| C loop 10\.0 ns \(1\.10×\) \| ≤ 1\.05× C loop \| \*\*missed\*\* \|/,
    )
    assert.match(after, /^a\n.*- gcc 12.*\nz\n$/s)
    assert.doesNotMatch(after, /old/)
    assert.throws(() => replaceBetween('a', 'b'), /has no/)
  })
})

it('garbage collections are counted by kind, full ones of the main thread apart', async () => {
  const output = new PassThrough()
  const counts = countCollections(output)
  output.end(
    [
      '[41:0x7f00]       12 ms: Scavenge 8.0 (10.0) -> 7.1 (11.0) MB, pooled: 0 MB, 0.80 / 0.00 ms',
      '{"level":30,"msg":"ms: Scavenge"}',
      '[41:0x7f00]       40 ms: Mark-Compact (reduce) 9.0 (12.0) -> 5.0 (9.0) MB, 3.00 / 0.00 ms',
      '[41:0x8f00]       41 ms: Scavenge 8.0 (10.0) -> 7.1 (11.0) MB, pooled: 0 MB, 0.80 / 0.00 ms',
      '[41:0x8f00]       60 ms: Mark-Compact 9.0 (12.0) -> 5.0 (9.0) MB, 3.00 / 0.00 ms',
      '[41:0x8f00]       90 ms: Mark-Compact 9.0 (12.0) -> 5.0 (9.0) MB, 3.00 / 0.00 ms',
    ].join('\n'),
  )
  await once(output, 'end')
  await new Promise((resolve) => setImmediate(resolve))
  const { scavenges, markSweeps, mainMarkSweeps, full } = counts
  assert.deepEqual([scavenges, markSweeps, mainMarkSweeps, full.length], [2, 2, 1, 3])
})

it('a process’s times are read, and those of none are nothing', {
  skip: process.platform !== 'linux',
}, () => {
  assert.ok(processTimes(process.pid).runNs > 0)
  assert.ok(residentBytes(process.pid) > 0)
  assert.deepEqual(processTimes(0x7fffffff), { runNs: 0, waitNs: 0 })
})
