/** A ufrag's second, which all workers of a relay share: each has a memory and reads the others'. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { GOOD_UFRAG_MS, UNCONFIRMED_PER_SECOND } from '../../../../../plugins/relay/pure/limits.ts'
import { RelayMemory, relayMemory } from '../../../../../plugins/relay/pure/relay-memory.ts'
import { UfragDigest } from '../../../../../plugins/relay/pure/ufrag-digest.ts'
import { UfragTable } from '../../../../../plugins/relay/pure/ufrag-table.ts'
import { Upstreams } from '../../../../../plugins/relay/pure/upstreams.ts'

const CAPACITY = 4

/** Where 32-bit time turns negative is crossed. */
const START = 2 ** 31 - 500

/** Tables of so many workers, in which one ufrag is known. */
class Workers {
  readonly tables: readonly UfragTable[]
  readonly #digest = new UfragDigest(Int32Array.of(1, 2, 3, 4))

  constructor(count: number) {
    const memories = Array.from({ length: count }, () => new RelayMemory(relayMemory(16)))
    this.tables = memories.map((memory) => {
      const others = memories.filter((other) => other !== memory)
      return new UfragTable(memory, new Upstreams(memory), CAPACITY, others)
    })
  }

  /** Spends a packet of a ufrag at worker number n. */
  spend(n: number, ms: number, ufrag = 'call'): boolean {
    const table = this.tables[n]!
    const now = (START + ms) | 0
    this.#digest.update(Buffer.from(ufrag), 0, ufrag.length)
    const at = table.find(now, this.#digest) || table.add(now, this.#digest, 0, undefined, undefined)
    return table.spend(now, at)
  }

  /** How many of so many pass. */
  passes(n: number, ms: number, tries = 100): number {
    let passed = 0
    for (let i = 0; i < tries; i++) if (this.spend(n, ms)) passed++
    return passed
  }
}

describe('a second of a ufrag', () => {
  test('has fifty packets, whichever workers they come to, and then fifty more', () => {
    const workers = new Workers(3)
    const [first, second] = [0, 1_000].map((ms) => [
      workers.passes(0, ms, 20),
      workers.passes(1, ms + 500, 20),
      workers.passes(2, ms + 999),
      workers.passes(0, ms + 999),
    ])
    assert.deepEqual(first, [20, 20, 10, 0])
    assert.deepEqual(second, first)
  })
  test('is over for all at once: nobody begins one anew in the middle of another’s', () => {
    const workers = new Workers(2)
    assert.equal(workers.passes(0, 0, 1), 1)
    assert.equal(workers.passes(1, 900), UNCONFIRMED_PER_SECOND - 1)
    assert.equal(workers.passes(0, 1_000), UNCONFIRMED_PER_SECOND)
    assert.equal(workers.passes(1, 1_899), 0)
    assert.equal(workers.passes(1, 1_999), 0)
    assert.equal(workers.passes(1, 2_000), UNCONFIRMED_PER_SECOND)
  })
  test('has begun for a worker whose clock is a batch behind', () => {
    const workers = new Workers(2)
    assert.equal(workers.passes(1, 0, 10), 10)
    assert.equal(workers.passes(0, 1_002, 30), 30)
    assert.equal(workers.passes(1, 998), 20)
    assert.equal(workers.passes(1, 1_001), 0)
    assert.equal(workers.passes(0, 1_500), 0)
  })
  test('is one ufrag’s', () => {
    const workers = new Workers(2)
    assert.equal(workers.passes(0, 0), UNCONFIRMED_PER_SECOND)
    assert.ok(workers.spend(1, 0, 'call2'))
    assert.ok(!workers.spend(1, 0, 'call'))
  })
})

test('whatever comes when and where, there are fifty in a second, and a hundred where two touch', () => {
  const step = fc.record({
    worker: fc.nat({ max: 3 }),
    ms: fc.constantFrom(0, 1, 10, 100, 490, 500, 890, 999, 1_000),
    tries: fc.constantFrom(1, 1, 5, 48, 60),
  })
  const steps = fc.array(step, { minLength: 10, maxLength: 100, size: 'max' })
  const run = fc.property(fc.integer({ min: 1, max: 4 }), steps, (count, all) => {
    const workers = new Workers(count)
    const passed: { at: number; packets: number }[] = []
    let now = 0
    for (const { worker, ms, tries } of all) {
      now += ms
      // An idle ufrag is forgotten then, and what was spent of it.
      if (now >= GOOD_UFRAG_MS) break
      passed.push({ at: now, packets: workers.passes(worker % count, now, tries) })
    }
    const within = (from: number, to: number): number =>
      passed.reduce((sum, { at, packets }) => (at > from && at <= to ? sum + packets : sum), 0)
    for (const { at } of passed) assert.ok(within(at - 1_000, at) <= 2 * UNCONFIRMED_PER_SECOND)
    assert.ok(within(-1, now) <= UNCONFIRMED_PER_SECOND * (Math.floor(now / 1_000) + 1))
  })
  fc.assert(run, { numRuns: 600 })
})
