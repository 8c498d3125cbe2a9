import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  PACKET_BYTES,
  PACKETS_AT_ONCE,
  PACKETS_PER_SECOND,
  PacketBudget,
} from '../../../../plugins/transceiver/packet-budget.ts'

/** How many of a flood at `now` pass. */
function passing(budget: PacketBudget, now: number): number {
  let passed = 0
  while (passed < 1_000_000 && budget.take(now)) passed++
  return passed
}

describe('a packet budget', () => {
  it('lets so many pass at once, and so many a second from then on', () => {
    const budget = new PacketBudget()
    assert.equal(passing(budget, 5000), PACKETS_AT_ONCE)
    assert.equal(passing(budget, 5000), 0)
    assert.equal(passing(budget, 5500), PACKETS_PER_SECOND / 2)
    assert.equal(passing(budget, 5500 + 3_600_000), PACKETS_AT_ONCE)
  })

  it('counts what came whole by its size, and says how long to wait then', () => {
    const budget = new PacketBudget()
    for (let n = 1; n < PACKETS_AT_ONCE; n++) assert.equal(budget.spend(0, 2), 0)
    assert.equal(budget.spend(0, 0), 1)
    assert.equal(budget.spend(0, PACKET_BYTES * 500), 501)
    assert.equal(budget.take(501), true)
    assert.equal(budget.take(501), false)
    assert.equal(budget.spend(503, PACKET_BYTES + 1), 1)
  })

  it('earns in fractions', () => {
    const budget = new PacketBudget()
    passing(budget, 0)
    let passed = 0
    for (let now = 0.25; now <= 1000; now += 0.25) if (budget.take(now)) passed++
    assert.equal(passed, PACKETS_PER_SECOND)
  })
})
