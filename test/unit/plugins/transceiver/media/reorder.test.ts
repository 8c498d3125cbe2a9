import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import { ReorderBuffer, type ReorderOutcome } from '../../../../../plugins/transceiver/media/reorder.ts'
import {
  FIRST_WAIT_MS,
  LEAST_WAIT_MS,
  MOST_WAIT_MS,
} from '../../../../../plugins/transceiver/media/reorder-wait.ts'
import { RtpHeader } from '../../../../../plugins/transceiver/media/rtp.ts'

/** A buffer, what it handed on as [sequence, lost before], and a way to push by sequence number. */
function setUp() {
  const out: [number, number][] = []
  const buffer = new ReorderBuffer(({ bytes, start, end, lostBefore, timestamp }) => {
    assert.equal(end - start, 4)
    const sequence = Buffer.from(bytes).readUInt32BE(start)
    assert.equal(timestamp, (sequence * 960) >>> 0)
    out.push([sequence, lostBefore])
  })
  const header = new RtpHeader()
  const bytes = Buffer.alloc(20)
  const push = (sequence: number, now = 0): ReorderOutcome => {
    bytes.writeUInt32BE(sequence, 7)
    header.sequence = sequence
    header.timestamp = (sequence * 960) >>> 0
    header.payloadStart = 7
    header.payloadEnd = 11
    const outcome = buffer.push(now, header, bytes)
    // The bytes are the socket's again, and written over.
    bytes.fill(0xff)
    return outcome
  }
  return { buffer, out, push }
}

describe('the reorder buffer', () => {
  test('hands on what comes in order at once, and whatever is early in its turn', () => {
    const { buffer, out, push } = setUp()
    assert.deepEqual(
      [10, 11, 14, 13, 12, 15].map((n) => push(n)),
      ['ordered', 'ordered', 'held', 'held', 'ordered', 'ordered'],
    )
    assert.deepEqual(out, [
      [10, -1],
      [11, 0],
      [12, 0],
      [13, 0],
      [14, 0],
      [15, 0],
    ])
    assert.equal(buffer.held, 0)
  })

  test('goes across the wrap of the sequence number', () => {
    const { out, push } = setUp()
    for (const n of [65534, 0, 65535, 1]) push(n)
    assert.deepEqual(
      out.map(([n]) => n),
      [65534, 65535, 0, 1],
    )
  })

  test('waits so long for what is missing and no longer, and says how much it was', () => {
    const { buffer, out, push } = setUp()
    push(1, 0)
    push(4, 100)
    push(5, 120)
    push(7, 130)
    buffer.advance(100 + FIRST_WAIT_MS - 1)
    assert.deepEqual(out, [[1, -1]])
    buffer.advance(100 + FIRST_WAIT_MS)
    assert.deepEqual(out.slice(1), [
      [4, 2],
      [5, 0],
    ])
    buffer.advance(130 + FIRST_WAIT_MS)
    assert.deepEqual(out.slice(3), [[7, 1]])
    assert.equal(push(2, 200), 'late')
    assert.equal(push(8, 200), 'ordered')
  })

  test('waits as long as others have been late by, within bounds', () => {
    const { buffer, out, push } = setUp()
    let [n, now] = [0, 0]
    push(n)
    /** A packet is missing for up to `ms`; how long it was waited for. */
    const lose = (ms: number): number => {
      const since = now
      push(n + 2, now)
      const before = out.length
      while (out.length === before && now - since < ms) buffer.advance(++now)
      if (out.length === before) push(n + 1, now)
      else if (ms < 1000) {
        now = since + ms
        assert.equal(push(n + 1, now), 'late')
      }
      n += 2
      return now - since
    }
    const pass = (seconds: number): void => {
      for (let i = 0; i < seconds * 50; i++) {
        now += 20
        push(++n, now)
      }
    }
    pass(60)
    assert.equal(lose(1000), LEAST_WAIT_MS, 'nothing ever comes late')
    lose(70)
    pass(1)
    const patient = lose(1000)
    assert.ok(patient > 85 && patient < 100, `one came after 70 ms; the next was given ${patient}`)
    lose(5000 - 4100)
    assert.ok(lose(1000) <= MOST_WAIT_MS)
    for (let i = 0; i < 30; i++) {
      assert.ok(lose(80) <= 80, 'one was given up that came as late as those before')
      assert.equal(out.at(-1)![1], 0)
      pass(1)
    }
    lose(110)
    pass(10)
    const less = lose(1000)
    assert.ok(less > 70 && less < 100, `10 s later, ${less} ms`)
    pass(120)
    assert.equal(lose(1000), LEAST_WAIT_MS, 'that one was late once is long ago')
  })

  test('drops what comes twice, held or not', () => {
    const { out, push } = setUp()
    assert.deepEqual(
      [1, 1, 3, 3, 2, 2, 3].map((n) => push(n)),
      ['ordered', 'late', 'held', 'late', 'ordered', 'late', 'late'],
    )
    assert.deepEqual(
      out.map(([n]) => n),
      [1, 2, 3],
    )
  })

  test('gives up early when it would have to hold too much', () => {
    const { out, push } = setUp()
    push(0)
    for (let n = 2; n < 34; n++) push(n)
    assert.deepEqual(out.slice(0, 3), [
      [0, -1],
      [2, 1],
      [3, 0],
    ])
    assert.equal(out.at(-1)![0], 33)
    push(500)
    assert.deepEqual(out.at(-1), [500, 466], 'a long outage, with nothing held')
  })

  test('begins anew with a source that has jumped, but not for one stray packet', () => {
    const { out, push } = setUp()
    for (const n of [1, 2]) push(n)
    assert.equal(push(30000), 'out-of-range')
    assert.equal(push(3), 'ordered')
    assert.equal(push(50000), 'out-of-range')
    assert.equal(push(50001), 'ordered')
    assert.deepEqual(out, [
      [1, -1],
      [2, 0],
      [3, 0],
      [50001, -1],
    ])
  })

  test('forgets everything on reset', () => {
    const { buffer, out, push } = setUp()
    push(1)
    push(3)
    buffer.reset()
    assert.equal(buffer.held, 0)
    push(9)
    buffer.advance(1000)
    assert.deepEqual(out, [
      [1, -1],
      [9, -1],
    ])
  })

  test('keeps the order and accounts for every packet, whatever the network does', () => {
    const random = new Prng(3)
    for (let round = 0; round < 50; round++) {
      const { buffer, out, push } = setUp()
      const first = random.below(65536)
      const sent: { n: number; at: number }[] = []
      for (let i = 0; i < 300; i++) {
        if (i > 0 && random.below(10) === 0) continue
        const delay = i === 0 ? 0 : random.below(50)
        sent.push({ n: (first + i) & 0xffff, at: i * 20 + delay })
        if (random.below(20) === 0)
          sent.push({ n: (first + i) & 0xffff, at: i * 20 + delay + random.below(90) })
      }
      sent.sort((a, b) => a.at - b.at)
      for (const { n, at } of sent) {
        buffer.advance(at)
        push(n, at)
      }
      buffer.advance(1e9)
      let expected = first
      for (const [n, lost] of out) {
        assert.equal(n, (expected + Math.max(0, lost)) & 0xffff, 'out of order, doubled or miscounted')
        expected = (n + 1) & 0xffff
      }
      assert.equal(buffer.held, 0)
      // Nothing came more than 50 ms late, so nothing that came was given up on.
      assert.equal(out.length, new Set(sent.map(({ n }) => n)).size)
    }
  })
})
