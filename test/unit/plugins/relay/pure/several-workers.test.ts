/** Rule 5 holds for a relay, however many workers it has: each reads what the others know of a ufrag. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import { ClientCensus } from '../../../../../plugins/relay/pure/client-census.ts'
import {
  CLIENTS_PER_UFRAG,
  UNCONFIRMED_MS,
  UNCONFIRMED_PER_SECOND,
} from '../../../../../plugins/relay/pure/limits.ts'
import {
  HEADER_IS_CHANGING,
  HEADER_WORDS,
  UFRAG_DIGEST,
  UFRAG_HOLDER,
  UFRAG_NEXT,
} from '../../../../../plugins/relay/pure/records.ts'
import { relayMemories, relayMemory } from '../../../../../plugins/relay/pure/relay-memory.ts'
import { holderLink } from '../../../../../plugins/relay/pure/ufrag-holders.ts'
import { WorkerUfrags } from '../../../../../plugins/relay/pure/worker-ufrags.ts'
import { at, SimulatedRelay, T1, T2 } from '../simulated-relay.ts'
import { assertWholeTables } from './whole-tables.ts'

const SEED = 77

/** The workers of one relay. */
function simulate(count: number, maxFlows = 64): SimulatedRelay[] {
  const all = relayMemories(count, maxFlows, SEED)
  return all.map((own) => {
    const relay = new SimulatedRelay({ maxFlows, memories: [own, ...all.filter((one) => one !== own)] })
    relay.issue('call1', T1)
    relay.issue('call2', T2)
    return relay
  })
}

const client = (n: number): string => `198.51.100.${n}:40000`

describe('eight client addresses of a ufrag', () => {
  for (const [a, b] of [
    [8, 0],
    [4, 4],
    [1, 7],
    [0, 8],
  ] as const) {
    test(`${a} at one worker and ${b} at another: both refuse the ninth, and count it`, () => {
      const [one, two] = simulate(2) as [SimulatedRelay, SimulatedRelay]
      for (let n = 0; n < a; n++) assert.deepEqual(one.check('call1', client(n)), [T1])
      for (let n = 0; n < b; n++) assert.deepEqual(two.check('call1', client(100 + n)), [T1])
      for (const worker of [one, two]) {
        assert.equal(worker.check('call1', client(99)), 'ufrag_addresses')
        assert.equal(worker.drops('ufrag_addresses'), 1)
        assert.deepEqual(worker.check('call2', client(99)), [T2])
      }
      if (a > 0) assert.deepEqual(one.check('call1', client(0)), [T1], 'one of the eight')
      if (b > 0) assert.deepEqual(two.check('call1', client(100)), [T1])
    })
  }
  test('a client of several of our sockets is one, whichever workers these are read by', () => {
    const workers = simulate(3)
    for (const worker of workers) {
      for (let n = 0; n < 5; n++) assert.deepEqual(worker.check('call1', client(n)), [T1])
    }
    const [one, two, three] = workers as [SimulatedRelay, SimulatedRelay, SimulatedRelay]
    for (let n = 5; n < CLIENTS_PER_UFRAG; n++) assert.deepEqual(one.check('call1', client(n)), [T1])
    assert.deepEqual(three.check('call1', client(7)), [T1], 'known to the first alone')
    assert.equal(two.check('call1', client(8)), 'ufrag_addresses')
    for (const { state } of workers) assertWholeTables(state)
  })
  test('one more when one has ended, at whatever worker', () => {
    const [one, two] = simulate(2) as [SimulatedRelay, SimulatedRelay]
    one.check('call1', client(1))
    for (let n = 2; n <= CLIENTS_PER_UFRAG; n++) two.connect('call1', T1, client(n))
    assert.equal(two.check('call1', client(99)), 'ufrag_addresses')
    one.now += UNCONFIRMED_MS
    two.now += UNCONFIRMED_MS
    one.state.flows.sweep(one.now, 100)
    assert.deepEqual(two.check('call1', client(99)), [T1])
    assert.equal(one.check('call1', client(98)), 'ufrag_addresses')
  })
  test('also when a worker was replaced, in the middle of a change or not', () => {
    const [one, two] = simulate(2) as [SimulatedRelay, SimulatedRelay]
    for (let n = 0; n < 4; n++) {
      one.connect('call1', T1, client(n))
      two.connect('call1', T1, client(100 + n))
    }
    for (const isChanging of [0, 1]) {
      one.state.memory.words[HEADER_IS_CHANGING] = isChanging
      one.attach()
      assert.equal(one.check('call1', client(99)), 'ufrag_addresses')
      assert.equal(two.check('call1', client(99)), 'ufrag_addresses')
      assert.deepEqual(one.check('call1', client(3)), [T1])
    }
  })
})

test('fifty unconfirmed packets a second of a ufrag, at all workers together, also of one that was replaced', () => {
  const workers = simulate(2)
  let passed = 0
  for (let n = 0; n < 200; n++) {
    const worker = workers[n % 2]!
    if (n === 30) worker.attach()
    if (worker.check('call1', client(n % 8)) !== 'ufrag_rate') passed++
  }
  assert.equal(passed, UNCONFIRMED_PER_SECOND)
  assert.ok(workers.every((worker) => worker.drops('ufrag_rate') > 50))
})

test('workers with another seed could not find anything: that is refused', () => {
  const memories = [...relayMemories(1, 64, SEED), ...relayMemories(1, 64, SEED + 1)]
  assert.throws(() => new SimulatedRelay({ memories }), /one seed/)
  assert.throws(
    () => new SimulatedRelay({ memories: [memories[0]!, relayMemory(64)] }),
    /one seed/,
    'none yet',
  )
})

test('what is read of a worker in motion may be anything: it is read to an end, and never written', () => {
  const random = new Prng(5)
  const [one, two] = simulate(2) as [SimulatedRelay, SimulatedRelay]
  for (let n = 0; n < 7; n++) one.connect('call1', T1, client(n))
  const { words } = one.state.memory
  const whole = words.slice()
  const used = Array.from(whole.keys()).filter((i) => i >= HEADER_WORDS && whole[i] !== 0)
  const any = (): number => used[random.below(used.length)]!
  for (let run = 0; run < 2_000; run++) {
    words.set(whole)
    // References into other records, out of the memory, and in circles.
    for (let n = 0; n < 12; n++) {
      words[any()] = [whole[any()]!, any(), random.below(words.length), -random.below(words.length)][n % 4]!
    }
    const before = words.slice()
    two.now += 100
    const outcome = two.check('call1', client(100 + (run % 3)))
    assert.ok(Array.isArray(outcome) || outcome.startsWith('ufrag_'), String(outcome))
    assert.ok(Buffer.compare(Buffer.from(words.buffer), Buffer.from(before.buffer)) === 0)
  }
  assertWholeTables(two.state)
})

test('holders that go round in a circle are more than there can be: nobody new is let in', () => {
  const [one] = simulate(1) as [SimulatedRelay]
  one.check('call1', client(1))
  const { memory, ufrags } = one.state
  const ufrag = ufrags.pool.at(0)
  const holder = memory.words[ufrag + UFRAG_HOLDER]!
  const census = new ClientCensus()
  const asks = (): boolean => {
    census.begin()
    new WorkerUfrags(memory).countClients(ufrag, at(client(9)), census)
    return census.admits
  }
  assert.ok(asks())
  memory.words[holderLink(holder)] = holder
  assert.ok(!asks())
})

test('a chain of ufrags that goes round in a circle, or out of the memory, ends', () => {
  const [one] = simulate(1) as [SimulatedRelay]
  one.check('call1', client(1))
  const { memory, ufrags } = one.state
  const { words } = memory
  const ufrag = ufrags.pool.at(0)
  const reader = new WorkerUfrags(memory)
  const asked = words.slice()
  assert.equal(reader.find(asked, ufrag), ufrag)
  // Another of the same bucket.
  asked[ufrag + UFRAG_DIGEST + 1]! ^= 1
  for (const next of [
    ufrag,
    ufrag + 1,
    words.length,
    words.length + 1,
    -ufrag,
    0x7fff_ffff,
    -0x8000_0000,
    0,
  ]) {
    words[ufrag + UFRAG_NEXT] = next
    assert.equal(reader.find(asked, ufrag), 0)
  }
})
