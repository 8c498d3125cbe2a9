import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AudioFrame, PlayoutEvent } from '../../../../core/contracts/inference-bridge.ts'
import { FakeCall } from '../../../../core/testing/fake-call.ts'

const frame = (durationMs = 20): AudioFrame => ({ data: new Uint8Array(durationMs * 16), durationMs })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What the playout of a call did, as it comes. */
function follow(call: FakeCall): string[] {
  const said: string[] = []
  const note = (event: PlayoutEvent): number =>
    said.push(event.type === 'started' ? `started ${event.tag}` : 'drained')
  const read = async (): Promise<void> => {
    for await (const event of call.playout) note(event)
    said.push('end')
  }
  void read()
  return said
}

describe('a fake call', () => {
  test('says when each tag starts, and once that all has left', async () => {
    const call = new FakeCall({ pcm16: 8000 })
    const said = follow(call)
    for (const tag of ['a', 'a', undefined, 'b', 'a', undefined]) await call.play(frame(), tag)
    await turn()
    await turn()
    assert.deepEqual(said, ['started a', 'started undefined', 'started b', 'drained'])
    await call.play(frame(), 'a')
    await turn()
    await turn()
    call.close()
    await turn()
    assert.deepEqual(said.slice(4), ['drained', 'end'])
  })

  test('holds, lets out to the millisecond, and tells a flush what left', async () => {
    const call = new FakeCall({ pcm16: 8000 }, { hold: true })
    const said = follow(call)
    void call.play(frame(100), 'a')
    let hasRoom = false
    void call.play(frame(200), 'b').then(() => {
      hasRoom = true
    })
    await turn()
    assert.deepEqual([said, hasRoom, call.queuedMs], [[], false, 300])
    call.release(130)
    await turn()
    assert.deepEqual([said, hasRoom, call.queuedMs], [['started a', 'started b'], true, 170])
    assert.deepEqual(call.flush(), [
      { tag: 'a', playedMs: 100 },
      { tag: 'b', playedMs: 30 },
    ])
    await turn()
    assert.deepEqual(said.length, 2, 'a flush is no drain')
    void call.play(frame(), 'b')
    call.release()
    await turn()
    await turn()
    assert.deepEqual(said.slice(2), ['started b', 'drained'], 'a tag starts again after a flush')
    call.close()
  })

  test('has been heard when the reader of its audio comes back for more', async () => {
    const call = new FakeCall({ pcm16: 8000 })
    call.speak(frame(), frame())
    await call.heard()
    const read: AudioFrame[] = []
    const slow = async (): Promise<void> => {
      for await (const one of call.audio) {
        await turn()
        read.push(one)
      }
    }
    void slow()
    const heard = call.heard().then(() => read.length)
    await turn()
    call.speak(frame())
    assert.equal(await heard, 2)
    await call.heard()
    assert.equal(read.length, 3)
    const last = call.heard()
    call.speak(frame())
    const never = call.heard()
    call.close()
    await Promise.all([last, never, call.heard()])
    assert.deepEqual(call.breaches, [])
  })

  test('notes a second reader of its playout', async () => {
    const call = new FakeCall({ pcm16: 8000 })
    follow(call)
    follow(call)
    assert.deepEqual(call.breaches, ['read the playout twice'])
    call.close()
  })
})
