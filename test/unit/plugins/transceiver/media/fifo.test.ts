import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Prng } from '../../../../../core/testing/prng.ts'
import { Fifo } from '../../../../../plugins/transceiver/media/fifo.ts'

test('a queue does as an array does, however it grows and wraps', () => {
  const random = new Prng(4)
  const fifo = new Fifo<number>()
  let model: number[] = []
  for (let i = 0; i < 20_000; i++) {
    const pushes = random.below(i % 2000 < 1000 ? 3 : 2)
    for (let n = 0; n < pushes; n++) {
      fifo.push(i + n)
      model.push(i + n)
    }
    assert.equal(fifo.peek(), model[0])
    assert.equal(fifo.shift(), model.shift())
    if (random.below(3000) === 0) {
      fifo.clear()
      model = []
    }
    assert.equal(fifo.length, model.length)
  }
})
