import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AudioFormat } from '../../../../../core/index.ts'
import { MediaRig } from './media-rig.ts'

const silk20 = (n: number): Uint8Array => Uint8Array.of(8, n)

function setUp(format: AudioFormat) {
  const rig = new MediaRig(format)
  const said: string[] = []
  rig.session.follow((event) =>
    said.push(`${rig.time.now() - 5000} ${event.type === 'started' ? event.tag : event.type}`),
  )
  rig.session.start()
  return { rig, said }
}

describe('the playout says', () => {
  test('when a tag’s first packet leaves, and that all have sounded to their end', () => {
    const { rig, said } = setUp('opus')
    for (const [n, tag] of ['a', 'a', 'b', undefined, 'a', undefined].entries())
      void rig.session.play({ data: silk20(n), durationMs: 20 }, tag)
    rig.time.advance(1000)
    const first = rig.sent[0]!.at - 5000
    assert.deepEqual(said, [
      `${first} a`,
      `${first + 40} b`,
      `${first + 60} undefined`,
      `${first + 120} drained`,
    ])
  })

  test('the same of samples, whatever the frames’ lengths', () => {
    const { rig, said } = setUp({ pcm16: 8000 })
    const play = (ms: number, tag: string): void =>
      void rig.session.play({ data: new Uint8Array(16 * ms), durationMs: ms }, tag)
    play(70, 'a')
    play(5, 'b')
    play(50, 'c')
    rig.time.advance(1000)
    const first = rig.sent[0]!.at - 5000
    // 125 ms are seven slots; a slot begins with what the one before left.
    assert.deepEqual(said, [`${first} a`, `${first + 60} b`, `${first + 60} c`, `${first + 140} drained`])
  })

  test('nothing of what a flush dropped, which is no drain, and a tag’s start anew after it', () => {
    const { rig, said } = setUp('opus')
    const play = (tag: string): void => void rig.session.play({ data: silk20(1), durationMs: 20 }, tag)
    for (const tag of ['a', 'a', 'a', 'a', 'b']) play(tag)
    rig.time.advance(40)
    rig.session.flush()
    rig.time.advance(1000)
    assert.deepEqual(
      said.map((line) => line.split(' ')[1]),
      ['a'],
    )
    for (const tag of ['b', 'a', 'a']) play(tag)
    rig.time.advance(1000)
    assert.deepEqual(
      said.map((line) => line.split(' ')[1]),
      ['a', 'b', 'a', 'drained'],
    )
  })

  test('nothing after the call', () => {
    const { rig, said } = setUp('opus')
    for (let n = 0; n < 5; n++) void rig.session.play({ data: silk20(n), durationMs: 20 }, `${n}`)
    rig.time.advance(40)
    const before = said.length
    rig.session.close()
    rig.time.advance(1000)
    assert.equal(said.length, before)
  })

  test('what the jitter buffer holds, when it is asked to hand it out', () => {
    const rig = new MediaRig('opus')
    rig.receive(1, 960, silk20(1))
    rig.receive(3, 3 * 960, silk20(3))
    rig.receive(5, 5 * 960, silk20(5))
    const heard = (): number[] => rig.frames.map(({ data }) => data[1]!)
    assert.deepEqual(heard(), [1])
    rig.session.handOut()
    assert.deepEqual(heard(), [1, 3, 5])
    rig.receive(4, 4 * 960, silk20(4))
    rig.receive(6, 6 * 960, silk20(6))
    assert.deepEqual(heard(), [1, 3, 5, 6])
  })
})
