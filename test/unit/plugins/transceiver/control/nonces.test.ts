import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Nonces } from '../../../../../plugins/transceiver/control/nonces.ts'
import { CLOCK_WINDOW_MS } from '../../../../../plugins/transceiver/control/signature.ts'

const NOW = 1_700_000_000_000

it('a nonce is taken once for as long as its request could be sent again', () => {
  for (const before of [0, CLOCK_WINDOW_MS, 2 * CLOCK_WINDOW_MS - 1]) {
    const nonces = new Nonces()
    nonces.take('first', NOW - before)
    assert.ok(nonces.take('a', NOW))
    for (const later of [0, 1, CLOCK_WINDOW_MS, 2 * CLOCK_WINDOW_MS - 1]) {
      assert.ok(!nonces.take('a', NOW + later), `${later} ms later`)
      assert.ok(nonces.take(`b${later}`, NOW + later))
    }
  }
})

it('it is forgotten in the end, busy or idle', () => {
  const idle = new Nonces()
  idle.take('a', NOW)
  assert.ok(idle.take('a', NOW + 4 * CLOCK_WINDOW_MS))
  const busy = new Nonces()
  busy.take('a', NOW)
  for (let later = 0; later <= 4 * CLOCK_WINDOW_MS; later += 1000) busy.take(`b${later}`, NOW + later)
  assert.ok(busy.take('a', NOW + 4 * CLOCK_WINDOW_MS))
})

it('more than can be kept is refused, until there is room', () => {
  const nonces = new Nonces(2)
  assert.deepEqual(
    ['a', 'b', 'c'].map((nonce) => nonces.take(nonce, NOW)),
    [true, true, false],
  )
  assert.ok(!nonces.take('a', NOW))
  assert.ok(nonces.take('c', NOW + 2 * CLOCK_WINDOW_MS))
})
