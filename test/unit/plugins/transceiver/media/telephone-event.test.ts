import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TelephoneEvents } from '../../../../../plugins/transceiver/media/telephone-event.ts'

function setUp() {
  const heard: [string, number][] = []
  const events = new TelephoneEvents((digit, ms) => heard.push([digit, ms]))
  const send = (
    now: number,
    timestamp: number,
    code: number,
    duration: number,
    end = false,
    marker = false,
    rate = 48000,
  ): boolean => {
    const bytes = Uint8Array.of(0, code, (end ? 0x80 : 0) | 10, duration >> 8, duration & 255)
    const packet = { payloadType: 110, marker, timestamp, bytes, start: 1, end: 5, lostBefore: 0 }
    return events.packet(now, packet, rate)
  }
  return { heard, events, send }
}

describe('telephone events', () => {
  test('are said once, when they end', () => {
    const { heard, send } = setUp()
    send(0, 1000, 5, 960, false, true)
    send(20, 1000, 5, 1920)
    assert.deepEqual(heard, [])
    for (let i = 0; i < 3; i++) send(40, 1000, 5, 4800, true)
    assert.deepEqual(heard, [['5', 100]])
  })

  test('are said for the same key again when it is pressed again', () => {
    const { heard, send } = setUp()
    send(0, 1000, 11, 4800, true, true)
    send(0, 9000, 11, 4800, true, true)
    assert.deepEqual(heard, [
      ['#', 100],
      ['#', 100],
    ])
  })

  test('are said though every end was lost: at the next one, or after a silence', () => {
    const { heard, events, send } = setUp()
    send(0, 1000, 1, 2400)
    send(100, 9000, 2, 4800)
    assert.deepEqual(heard, [['1', 50]])
    events.advance(349)
    assert.equal(heard.length, 1)
    events.advance(350)
    assert.deepEqual(heard[1], ['2', 100])
    send(360, 9000, 2, 4800, true)
    assert.equal(heard.length, 2, 'an end that comes after all')
  })

  test('are not said again for an end that comes when the next has begun', () => {
    const { heard, events, send } = setUp()
    send(0, 1000, 1, 2400)
    send(50, 1000, 1, 4800, true)
    send(60, 9000, 2, 960, false, true)
    send(61, 1000, 1, 4800, true)
    send(80, 9000, 2, 4800, true)
    send(81, 1000, 1, 4800, true)
    assert.deepEqual(heard, [
      ['1', 100],
      ['2', 100],
    ])
    assert.equal(events.waiting, false)
  })

  test('are others after a pause, or of another source, wherever their timestamps lie', () => {
    const { heard, events, send } = setUp()
    send(0, 90_000, 1, 4800, true, true)
    send(1100, 1000, 2, 2400, false, true)
    assert.ok(events.waiting)
    events.reset()
    assert.equal(events.waiting, false)
    send(1110, 500, 3, 4800, true, true)
    assert.deepEqual(heard, [
      ['1', 100],
      ['2', 50],
      ['3', 100],
    ])
  })

  test('go on over segments when a key is held long (RFC 4733 §2.5.1.3)', () => {
    const { heard, send } = setUp()
    send(0, 1000, 7, 65535, false, true)
    send(1365, 1000 + 65535, 7, 4800, true)
    assert.deepEqual(heard, [['7', (65535 + 4800) / 48]])
  })

  test('count at the rate of their payload type', () => {
    const { heard, send } = setUp()
    send(0, 1000, 10, 800, true, true, 8000)
    assert.deepEqual(heard, [['*', 100]])
  })

  test('are left out when they are no digits, refused when too short', () => {
    const { heard, events, send } = setUp()
    send(0, 1000, 16, 800, true, true)
    send(0, 2000, 15, 4800, true, true)
    assert.deepEqual(heard, [['D', 100]])
    const packet = {
      payloadType: 110,
      marker: true,
      timestamp: 0,
      bytes: new Uint8Array(9),
      start: 3,
      end: 6,
      lostBefore: 0,
    }
    assert.equal(events.packet(0, packet, 48000), false)
  })
})
