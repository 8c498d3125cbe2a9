import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fragment, SctpInbound } from '../../../../../plugins/transceiver/peer/sctp-inbound.ts'
import { seeded } from './channel-pair.ts'

const LIMITS = { window: 10_000, fragments: 100, streams: 8, messageSize: 5000 }

function make(initialTsn: number, limits = LIMITS): { inbound: SctpInbound; got: string[] } {
  const got: string[] = []
  const inbound = new SctpInbound(limits, (streamId, _protocol, data) => got.push(`${streamId}:${data}`))
  inbound.start(initialTsn)
  return { inbound, got }
}

function fragment(tsn: number, text: string, rest: Partial<Fragment> = {}): Fragment {
  return {
    tsn: tsn >>> 0,
    streamId: 0,
    sequence: 0,
    protocol: 51,
    flags: 3,
    data: Buffer.from(text),
    ...rest,
  }
}

for (const [what, first] of [
  ['a power of ten', 999_999_999],
  ['the end of the 32 bits', 2 ** 32 - 1],
] as const) {
  test(`werift fault 18: TSNs are numbers, not strings, at ${what}`, () => {
    const { inbound, got } = make(first)
    inbound.receive(fragment(first + 1, 'b', { sequence: 1 }))
    inbound.receive(fragment(first + 2, 'c', { sequence: 2 }))
    assert.deepEqual(inbound.takeReport().gaps, [[2, 3]])
    inbound.receive(fragment(first, 'a'))
    assert.deepEqual(got, ['0:a', '0:b', '0:c'])
    assert.equal(inbound.cumulative, (first + 2) >>> 0)
    assert.deepEqual(inbound.takeReport().gaps, [])
  })
}

test('an initial TSN of 0', () => {
  const { inbound, got } = make(0)
  assert.equal(inbound.cumulative, 2 ** 32 - 1)
  inbound.receive(fragment(0, 'a'))
  assert.deepEqual([got, inbound.cumulative], [['0:a'], 0])
})

test('a finished message is not kept back by another stream between', () => {
  const { inbound, got } = make(1)
  inbound.receive(fragment(2, 'x', { streamId: 5 }))
  inbound.receive(fragment(3, 'b', { sequence: 1 }))
  assert.deepEqual(got, ['5:x'])
  inbound.receive(fragment(1, 'a'))
  assert.deepEqual(got, ['5:x', '0:a', '0:b'])
})

test('any order of arrival, with copies, gives each message once and in order', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seeded(seed)
    const first = Math.floor(random() * 2 ** 32)
    const { inbound, got } = make(first)
    const { fragments, expected } = makeMessages(first, random)
    const arriving = [...fragments, ...fragments.slice(0, 5)]
      .map((f) => ({ f, at: random() }))
      .sort((a, b) => a.at - b.at)
    for (const { f } of arriving) assert.match(inbound.receive(f), /taken|duplicate/)
    for (const streamId of [0, 1, 2]) {
      const own = (all: readonly string[]): string[] => all.filter((m) => m.startsWith(`${streamId}:`))
      assert.deepEqual(own(got), own(expected), `seed ${seed}`)
    }
    assert.equal(inbound.held, 0)
    assert.equal(inbound.window, LIMITS.window)
  }
})

function makeMessages(first: number, random: () => number): { fragments: Fragment[]; expected: string[] } {
  const fragments: Fragment[] = []
  const expected: string[] = []
  const sequences = [0, 0, 0]
  let tsn = first
  for (let message = 0; message < 20; message++) {
    const streamId = Math.floor(random() * 3)
    const sequence = sequences[streamId]!++
    const parts = 1 + Math.floor(random() * 4)
    expected.push(`${streamId}:${Array.from({ length: parts }, (_, i) => `m${message}.${i} `).join('')}`)
    for (let i = 0; i < parts; i++) {
      const flags = (i === 0 ? 2 : 0) | (i === parts - 1 ? 1 : 0)
      fragments.push(fragment(tsn++, `m${message}.${i} `, { streamId, sequence, flags }))
    }
  }
  return { fragments, expected }
}

test('unordered messages come as they are whole', () => {
  const { inbound, got } = make(1)
  inbound.receive(fragment(3, 'c', { flags: 7 }))
  inbound.receive(fragment(1, 'a', { flags: 6 }))
  assert.deepEqual(got, ['0:c'])
  inbound.receive(fragment(2, 'b', { flags: 5 }))
  assert.deepEqual(got, ['0:c', '0:ab'])
})

test('duplicates are reported, sixteen at most', () => {
  const { inbound, got } = make(1)
  inbound.receive(fragment(1, 'a'))
  for (let i = 0; i < 40; i++) assert.equal(inbound.receive(fragment(1, 'a')), 'duplicate')
  assert.deepEqual(
    inbound.takeReport().duplicates,
    Array.from({ length: 16 }, () => 1),
  )
  assert.deepEqual(inbound.takeReport().duplicates, [])
  assert.deepEqual(got, ['0:a'])
})

test('gap blocks are bounded', () => {
  const { inbound } = make(1, { ...LIMITS, fragments: 4096 })
  for (let tsn = 3; tsn < 1000; tsn += 2) inbound.receive(fragment(tsn, 'x'))
  const { gaps } = inbound.takeReport()
  assert.equal(gaps.length, 64)
  assert.deepEqual(gaps[0], [3, 3])
})

test('TSNs far ahead are not taken', () => {
  const { inbound } = make(1)
  assert.equal(inbound.receive(fragment(101, 'x')), 'dropped')
  assert.equal(inbound.receive(fragment(2 ** 31 - 1, 'x')), 'dropped')
  assert.equal(inbound.held, 0)
})

test('past its window it takes only the next TSN, and in the end nothing', () => {
  const { inbound } = make(1, { ...LIMITS, messageSize: 1e9 })
  const part = 'x'.repeat(1000)
  for (let tsn = 1; tsn <= 10; tsn++) {
    assert.equal(inbound.receive(fragment(tsn, part, { flags: tsn === 1 ? 2 : 0 })), 'taken')
  }
  assert.equal(inbound.window, 0)
  assert.equal(inbound.receive(fragment(12, part, { flags: 0 })), 'dropped')
  for (let tsn = 11; tsn <= 20; tsn++)
    assert.equal(inbound.receive(fragment(tsn, part, { flags: 0 })), 'taken')
  assert.equal(inbound.receive(fragment(21, part, { flags: 0 })), 'overflow')
})

test('the number of fragments is bounded as well as their bytes', () => {
  const { inbound } = make(1)
  let receipt = 'taken'
  let tsn = 1
  while (receipt === 'taken') receipt = inbound.receive(fragment(tsn++, 'x', { flags: 0 }))
  assert.deepEqual([receipt, inbound.held], ['overflow', 200])
})

test('a message over the limit, and fragments that contradict each other, end it', () => {
  const { inbound } = make(1)
  assert.equal(inbound.receive(fragment(1, 'x'.repeat(4000), { flags: 2 })), 'taken')
  assert.equal(inbound.receive(fragment(2, 'x'.repeat(1001), { flags: 0 })), 'message_too_large')
  for (const wrong of [{ streamId: 1 }, { sequence: 1 }, { protocol: 53 }, { flags: 4 }]) {
    const other = make(1).inbound
    other.receive(fragment(1, 'x', { flags: 2 }))
    assert.equal(other.receive(fragment(2, 'x', { flags: 0, ...wrong })), 'protocol_violation')
  }
})

test('the number of streams is bounded', () => {
  const { inbound } = make(1)
  for (let id = 0; id < 8; id++)
    assert.equal(inbound.receive(fragment(1 + id, 'x', { streamId: id })), 'taken')
  assert.equal(inbound.receive(fragment(9, 'x', { streamId: 99 })), 'overflow')
  assert.equal(
    make(1).inbound.forward(
      5,
      Array.from({ length: 9 }, (_, id) => [id, 0] as const),
    ),
    'overflow',
  )
})

test('FORWARD TSN gives up on what is missing and hands on what is whole', () => {
  const { inbound, got } = make(1)
  inbound.receive(fragment(2, 'half', { sequence: 1, flags: 2 }))
  inbound.receive(fragment(4, 'c', { sequence: 2 }))
  inbound.receive(fragment(6, 'e', { sequence: 4 }))
  assert.equal(inbound.forward(3, [[0, 1]]), 'taken')
  assert.deepEqual([got, inbound.cumulative], [['0:c'], 4])
  assert.equal(inbound.forward(2, [[0, 9]]), 'duplicate')
  inbound.receive(fragment(5, 'd', { sequence: 3 }))
  assert.deepEqual(got, ['0:c', '0:d', '0:e'])
  assert.equal(inbound.held, 0)
})

test('a reset stream starts again at 0', () => {
  const { inbound, got } = make(1)
  inbound.receive(fragment(1, 'a'))
  inbound.receive(fragment(2, 'c', { sequence: 2 }))
  inbound.resetStream(0)
  assert.equal(inbound.held, 0)
  inbound.receive(fragment(3, 'b'))
  assert.deepEqual(got, ['0:a', '0:b'])
})
