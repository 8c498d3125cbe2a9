/** Faults come by the seed, in the asked measure, and none when none is asked for. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Impairment, type Impairments } from '../../../../core/testing/impairment.ts'

/** What comes out of datagrams 0, 1, 2, … when nothing is delayed. */
function run(seed: number, how: Impairments, count: number): number[] {
  const out: number[] = []
  const impairment = new Impairment(seed, how)
  for (let i = 0; i < count; i++) impairment.pass(() => out.push(i))
  impairment.close()
  return out
}

test('nothing asked, nothing done', () => {
  assert.deepEqual(
    run(1, {}, 50),
    Array.from({ length: 50 }, (_, i) => i),
  )
})

test('the seed decides', () => {
  const how = { loss: 0.2, duplicate: 0.1, reorder: 0.1 }
  assert.deepEqual(run(7, how, 500), run(7, how, 500))
  assert.notDeepEqual(run(7, how, 500), run(8, how, 500))
})

test('loss and duplication come in the asked measure', () => {
  const lost = 2000 - run(3, { loss: 0.3 }, 2000).length
  assert.ok(lost > 500 && lost < 700, String(lost))
  const extra = run(3, { duplicate: 0.1 }, 2000).length - 2000
  assert.ok(extra > 150 && extra < 250, String(extra))
})

test('reordering swaps neighbours and loses nothing', async () => {
  const out: number[] = []
  const impairment = new Impairment(5, { reorder: 0.2 })
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 300; i++) {
      impairment.pass(() => {
        out.push(i)
        if (out.length === 300) resolve()
      })
    }
  })
  assert.ok(out.some((n, i) => n < (out[i - 1] ?? 0)))
  assert.deepEqual(
    out.toSorted((a, b) => a - b),
    Array.from({ length: 300 }, (_, i) => i),
  )
})

test('a held datagram leaves by itself when no other follows', async () => {
  const impairment = new Impairment(1, { reorder: 1 })
  await new Promise<void>((resolve) => impairment.pass(resolve))
})

test('delay delivers later, and close drops what waits', async () => {
  const out: string[] = []
  const impairment = new Impairment(1, { delayMs: 5 })
  await new Promise<void>((resolve) => {
    impairment.pass(resolve)
    out.push('passed')
  })
  assert.deepEqual(out, ['passed'])
  impairment.pass(() => out.push('never'))
  impairment.close()
  assert.equal(
    impairment.pass(() => out.push('never')),
    false,
  )
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(out, ['passed'])
})
