/** What the caller says on its way up: in pieces of 20 to 40 ms, with silence where there was a gap. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AudioFrame } from '../../../../../core/index.ts'
import { Uplink } from '../../../../../plugins/inference-bridge/openai-realtime/uplink.ts'

const RATE = 24_000

function frame(ms: number, fill: number, timestampMs?: number): AudioFrame {
  const data = new Uint8Array((ms * RATE) / 500).fill(fill)
  return { data, durationMs: ms, ...(timestampMs === undefined ? {} : { timestampMs }) }
}

/** Sends frames up; the pieces that came out, each as its length and its first byte. */
async function up(frames: AudioFrame[], flush = false): Promise<string[]> {
  const pieces: string[] = []
  async function* audio() {
    yield* frames
  }
  const uplink = new Uplink({ audio: audio() }, RATE, (text) => {
    const { type, audio } = JSON.parse(text)
    assert.equal(type, 'input_audio_buffer.append')
    const pcm = Buffer.from(audio, 'base64')
    pieces.push(`${(pcm.length * 500) / RATE} ms of ${pcm[0]}`)
    return undefined
  })
  await uplink.run()
  if (flush) uplink.flush()
  return pieces
}

describe('the caller’s audio', () => {
  it('goes up as it comes when it comes in 20 ms', async () => {
    assert.deepEqual(await up([frame(20, 1), frame(20, 2)]), ['20 ms of 1', '20 ms of 2'])
  })

  it('is joined to no less', async () => {
    const frames = [frame(2.5, 1), frame(10, 2), frame(10, 3), frame(20, 4)]
    assert.deepEqual(await up(frames), ['22.5 ms of 1', '20 ms of 4'])
  })

  it('is cut to no more, and the rest is kept', async () => {
    assert.deepEqual(await up([frame(120, 1), frame(50, 2), frame(20, 3)]), [
      '40 ms of 1',
      '40 ms of 1',
      '40 ms of 1',
      '40 ms of 2',
      '30 ms of 2',
    ])
  })

  it('is sent to its last sample when somebody asks for it', async () => {
    assert.deepEqual(await up([frame(10, 1)]), [])
    assert.deepEqual(await up([frame(10, 1)], true), ['10 ms of 1'])
  })

  it('has silence where the caller’s stream has a gap', async () => {
    assert.deepEqual(await up([frame(20, 1, 0), frame(20, 2, 60), frame(20, 3, 80)]), [
      '20 ms of 1',
      '40 ms of 0',
      '20 ms of 2',
      '20 ms of 3',
    ])
  })

  it('has no more of it than 2 s', async () => {
    const pieces = await up([frame(20, 1, 0), frame(20, 2, 60_000)])
    assert.equal(pieces.length, 2 + 50)
  })
})
