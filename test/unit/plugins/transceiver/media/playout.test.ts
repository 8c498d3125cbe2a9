import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EdgeError } from '../../../../../core/errors.ts'
import { Prng } from '../../../../../core/testing/prng.ts'
import { PlayoutQueue, ROOM_MS } from '../../../../../plugins/transceiver/media/playout.ts'

const silk20 = (n: number): Uint8Array => Uint8Array.of(8, n)

/** True when a promise has been settled by now. */
async function isReady(promise: Promise<void>): Promise<boolean> {
  let ready = false
  promise.then(() => {
    ready = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return ready
}

describe('the playout queue', () => {
  test('cuts and joins PCM of any lengths into 20 ms, losing and doubling nothing', () => {
    const random = new Prng(5)
    for (const rate of [8000, 16000, 24000, 48000] as const) {
      const queue = new PlayoutQueue({ pcm16: rate }, () => {})
      const given = random.bytes(2 * 5 * rate)
      const taken: Uint8Array[] = []
      for (let at = 0; at < given.length; ) {
        const end = Math.min(given.length, at + 2 * random.below(rate / 10))
        void queue.push({ data: given.subarray(at, end), durationMs: 0 }, undefined)
        at = end
        while (queue.queuedMs >= 20) taken.push(queue.takeSlice()!.slice())
      }
      assert.ok(taken.every((slice) => slice.length === (rate / 50) * 2))
      const rest = Math.round((queue.queuedMs * rate) / 1000) * 2
      if (rest > 0) {
        const last = queue.takeSlice()!.slice()
        assert.ok(
          last.subarray(rest).every((byte) => byte === 0),
          'what is short was not filled with silence',
        )
        taken.push(last.subarray(0, rest))
      }
      assert.ok(Buffer.concat(taken).equals(given))
      assert.deepEqual([queue.queuedMs, queue.takeSlice()], [0, undefined])
    }
  })

  test('hands Opus packets on one by one, and knows their length itself', () => {
    const queue = new PlayoutQueue('opus', () => {})
    const frames = [silk20(1), Uint8Array.of(24, 2), Uint8Array.of(0x0b, 2, 3)]
    for (const data of frames) void queue.push({ data, durationMs: 999 }, undefined)
    assert.equal(queue.queuedMs, 20 + 60 + 40)
    assert.deepEqual(
      [queue.takePacket(), queue.takePacket(), queue.takePacket(), queue.takePacket()],
      [...frames, undefined],
    )
    assert.equal(queue.queuedMs, 0)
  })

  test('says there is room below 200 ms, and at once when enough has left', async () => {
    const queue = new PlayoutQueue('opus', () => {})
    for (let n = 1; n < ROOM_MS / 20; n++)
      assert.ok(await isReady(queue.push({ data: silk20(n), durationMs: 20 }, undefined)))
    const [one, two] = [1, 2].map((n) => queue.push({ data: silk20(n), durationMs: 20 }, undefined))
    queue.takePacket()
    assert.equal(await isReady(one!), false)
    queue.takePacket()
    assert.ok((await isReady(one!)) && (await isReady(two!)))
    const three = queue.push({ data: silk20(3), durationMs: 20 }, undefined)
    assert.equal(await isReady(three), false)
    queue.flush()
    assert.ok(await isReady(three), 'a flush makes room')
  })

  test('a flush tells per tag what has left, to the sample', () => {
    const queue = new PlayoutQueue({ pcm16: 8000 }, () => {})
    const push = (samples: number, tag?: string): void =>
      void queue.push({ data: new Uint8Array(2 * samples), durationMs: 0 }, tag)
    push(100)
    push(200, 'a')
    push(50, 'b')
    push(8, 'a')
    push(400, 'c')
    push(10, 'd')
    // 160 samples a slice: the untagged 100 and 60 of a; then 140 of a and 20 of b; then 30 of b, 8 of a, 122 of c.
    queue.takeSlice()
    queue.takeSlice()
    queue.takeSlice()
    assert.deepEqual(queue.flush(), [
      { tag: 'a', playedMs: 208 / 8 },
      { tag: 'b', playedMs: 50 / 8 },
      { tag: 'c', playedMs: 122 / 8 },
      { tag: 'd', playedMs: 0 },
    ])
    assert.deepEqual([queue.queuedMs, queue.takeSlice(), queue.flush()], [0, undefined, []])
    push(160, 'c')
    queue.takeSlice()
    assert.deepEqual(queue.flush(), [{ tag: 'c', playedMs: 20 }], 'counted from the flush on')
  })

  test('takes many tags in little time, and counts one that comes again', () => {
    const queue = new PlayoutQueue({ pcm16: 24000 }, () => {})
    const push = (tag: string): void => void queue.push({ data: new Uint8Array(2), durationMs: 0 }, tag)
    const started = process.cpuUsage().user
    for (let n = 0; n < 100_000; n++) push(`tag ${n}`)
    const tookMs = (process.cpuUsage().user - started) / 1000
    // Were each looked at for each, it would be a minute.
    assert.ok(tookMs < 5000, `it took ${tookMs} ms`)
    while (queue.takeSlice()) {}
    for (let n = 0; n < 300; n++) {
      push('again')
      push(`new ${n}`)
      queue.takeSlice()
    }
    assert.equal(queue.flush().find(({ tag }) => tag === 'again')?.playedMs, 300 / 24)
  })

  test('forgets tags that are over before it remembers too many', () => {
    const queue = new PlayoutQueue('opus', () => {})
    for (let n = 0; n < 1000; n++) {
      void queue.push({ data: silk20(n & 255), durationMs: 20 }, `tag ${n}`)
      queue.takePacket()
    }
    const played = queue.flush()
    assert.equal(played.length, 256)
    assert.deepEqual(played.at(-1), { tag: 'tag 999', playedMs: 20 })
  })

  test('rejects what is no frame of its format, and goes on', async () => {
    const refused = (error: unknown): boolean => error instanceof EdgeError && error.code === 'bridge_failed'
    const opus = new PlayoutQueue('opus', () => {})
    for (const data of [new Uint8Array(0), Uint8Array.of(0x0b), new Uint8Array(1276).fill(8)]) {
      await assert.rejects(opus.push({ data, durationMs: 20 }, 'x'), refused)
    }
    const samples = new PlayoutQueue({ pcm16: 8000 }, () => {})
    await assert.rejects(samples.push({ data: new Uint8Array(3), durationMs: 20 }, 'x'), refused)
    await samples.push({ data: new Uint8Array(0), durationMs: 0 }, 'x')
    assert.deepEqual([opus.queuedMs, samples.queuedMs, opus.flush(), samples.flush()], [0, 0, [], []])
  })

  test('lets everybody go when it closes', async () => {
    const queue = new PlayoutQueue({ pcm16: 8000 }, () => {})
    const waiting = queue.push({ data: new Uint8Array(16000), durationMs: 1000 }, 'x')
    queue.close()
    await waiting
    await queue.push({ data: new Uint8Array(16000), durationMs: 1000 }, 'x')
    assert.deepEqual([queue.queuedMs, queue.takeSlice(), queue.flush()], [0, undefined, []])
  })
})
