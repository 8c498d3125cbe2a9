import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../../core/testing/fake-clock.ts'
import { type Paced, PlayoutClock } from '../../../../../plugins/transceiver/media/pacer.ts'

/** A playout clock on fake time whose timers come `late()` ms late. */
function setUp(late: () => number = () => 0) {
  const time = new FakeClock(1000)
  const faults: unknown[] = []
  const clock = new PlayoutClock({
    now: time.now,
    schedule: (run, ms) => time.after(ms + late(), run),
    onFault: (error) => faults.push(error),
  })
  return { time, clock, faults }
}

function recorder(): Paced & { readonly slots: number[]; readonly times: number[] } {
  const slots: number[] = []
  const times: number[] = []
  return {
    slots,
    times,
    tick: (now, slot) => {
      slots.push(slot)
      times.push(now)
    },
  }
}

describe('the playout clock', () => {
  test('ticks every 20 ms by the clock, however late its timers come', () => {
    let n = 0
    const { time, clock } = setUp(() => n++ % 7)
    const member = recorder()
    clock.register(member)
    time.advance(20_006)
    assert.deepEqual(
      member.slots,
      Array.from({ length: 1000 }, (_, i) => i + 1),
    )
    for (const [i, at] of member.times.entries()) {
      const behind = at - (1000 + 20 * member.slots[i]!)
      assert.ok(behind >= 0 && behind <= 6, `slot ${member.slots[i]} came ${behind} ms late`)
    }
  })

  test('makes up for a short stall and skips what is past five slots', () => {
    let late = 0
    const { time, clock } = setUp(() => late)
    const { slots, tick } = recorder()
    clock.register({ tick })
    late = 70
    time.advance(20)
    late = 0
    time.advance(80)
    assert.deepEqual(slots, [1], 'the second slot’s timer came early')
    assert.equal(clock.slotAt(time.now()), 5)
    time.advance(10)
    assert.deepEqual(slots, [1, 2, 3, 4, 5])
    late = 1000
    time.advance(10)
    late = 0
    time.advance(1020)
    assert.deepEqual(slots.slice(5), [6, 53, 54, 55, 56, 57])
  })

  test('sets no timer without members, and counts on while there are none', () => {
    const { time, clock } = setUp()
    const [one, two] = [recorder(), recorder()]
    assert.equal(time.pending, 0)
    clock.register(one)
    clock.register(one)
    clock.register(two)
    assert.deepEqual([time.pending, clock.size], [1, 2])
    time.advance(20)
    clock.unregister(one)
    time.advance(20)
    clock.unregister(two)
    clock.unregister(two)
    assert.deepEqual([time.pending, clock.size], [0, 0])
    time.advance(95)
    clock.register(one)
    time.advance(25)
    assert.deepEqual(
      [one.slots, two.slots],
      [
        [1, 7, 8],
        [1, 2],
      ],
    )
  })

  test('lets members come and go within a tick, on one timer', () => {
    const { time, clock } = setUp()
    const other = recorder()
    let ticks = 0
    const member: Paced = {
      tick: () => {
        ticks++
        clock.unregister(member)
        if (ticks === 1) clock.register(member)
        else clock.register(other)
      },
    }
    clock.register(member)
    time.advance(20)
    assert.equal(time.pending, 1)
    time.advance(60)
    assert.deepEqual([ticks, time.pending, clock.size], [2, 1, 1])
    assert.equal(new Set(other.slots).size, other.slots.length)
  })

  test('takes a member off that throws, and goes on with the others', () => {
    const { time, clock, faults } = setUp()
    const fault = new Error('mine')
    const good = recorder()
    clock.register({
      tick: () => {
        throw fault
      },
    })
    clock.register(good)
    time.advance(60)
    assert.deepEqual([faults, good.slots, clock.size], [[fault], [1, 2, 3], 1])
  })

  test('runs on real time by itself', async () => {
    const clock = new PlayoutClock()
    const slots: number[] = []
    await new Promise<void>((resolve) => {
      const member: Paced = {
        tick: (now, slot) => {
          assert.ok(clock.slotAt(now) >= slot, 'a slot came before its time')
          slots.push(slot)
          if (slots.length < 4) return
          clock.unregister(member)
          resolve()
        },
      }
      clock.register(member)
    })
    assert.equal(new Set(slots).size, 4)
  })
})
