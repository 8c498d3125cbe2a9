import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CallQueue } from '../../../../plugins/transceiver/call-queue.ts'

describe('what waits for a bridge', () => {
  test('answers a reader that asks again before it was answered, in order, also at the end', async () => {
    const queue = new CallQueue<number>('audio')
    const reader = queue[Symbol.asyncIterator]()
    const asked = [reader.next(), reader.next(), reader.next()]
    queue.push(1, 20)
    queue.push(2, 20)
    await queue.allRead()
    queue.end()
    const over = { done: true, value: undefined }
    assert.deepEqual(await Promise.all(asked), [{ done: false, value: 1 }, { done: false, value: 2 }, over])
    assert.deepEqual(await reader.next(), over)
  })
})
