import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EdgeError } from '../../../../core/errors.ts'
import type { AudioFrame, JsonObject } from '../../../../core/index.ts'
import {
  Call,
  MAX_AUDIO_MS,
  MAX_EVENT_TEXT,
  MAX_EVENTS,
  MAX_REASON,
} from '../../../../plugins/transceiver/call.ts'

const frame = (n: number): AudioFrame => ({ data: Uint8Array.of(n >> 8, n & 255), durationMs: 20 })

function setUp() {
  const channel = { open: true, sent: [] as JsonObject[] }
  const ended: string[] = []
  const played: AudioFrame[] = []
  const call = new Call({
    id: 'rtc_x',
    traceSession: new Uint8Array(8),
    caller: { name: 'anonymous' },
    media: {
      play: async (given) => void played.push(given),
      flush: () => [{ tag: 'a', playedMs: 1 }],
      queuedMs: 7,
      follow: () => {},
      handOut: () => {},
    },
    sendEvent: (text) => {
      if (channel.open) channel.sent.push(JSON.parse(text))
      return channel.open
    },
    onEnd: (reason) => ended.push(reason),
  })
  return { call, channel, ended, played }
}

async function readAll<T>(items: AsyncIterable<T>, into: T[]): Promise<void> {
  for await (const item of items) into.push(item)
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a call', () => {
  test('gives its bridge audio and events in order, whether it waits for them or they for it', async () => {
    const { call } = setUp()
    const frames: AudioFrame[] = []
    const events: JsonObject[] = []
    call.pushFrame(frame(1))
    call.pushFrame(frame(2))
    call.pushEvent({ n: 1 })
    const done = Promise.all([readAll(call.audio, frames), readAll(call.events, events)])
    await turn()
    call.pushEvent({ n: 2 })
    call.pushFrame(frame(3))
    await turn()
    assert.deepEqual(frames, [frame(1), frame(2), frame(3)])
    assert.deepEqual(events, [{ n: 1 }, { n: 2 }])
    call.close('over')
    await done
  })

  test('drops the oldest audio when nobody reads it', async () => {
    const { call } = setUp()
    for (let n = 0; n < 150; n++) call.pushFrame(frame(n))
    assert.equal(call.counters.droppedAudioMs, 150 * 20 - MAX_AUDIO_MS)
    const frames: AudioFrame[] = []
    const done = readAll(call.audio, frames)
    await turn()
    assert.deepEqual(
      frames,
      Array.from({ length: 100 }, (_, i) => frame(50 + i)),
    )
    for (let n = 0; n < 500; n++) {
      call.pushFrame(frame(n))
      if (n % 50 === 0) await turn()
    }
    assert.equal(call.counters.droppedAudioMs, 1000, 'audio was dropped though it was read')
    call.close('over')
    await done
  })

  test('drops the newest events when nobody reads them, and tells the client once', async () => {
    const { call, channel } = setUp()
    for (let n = 0; n < MAX_EVENTS + 10; n++) call.pushEvent({ n })
    assert.equal(call.counters.droppedEvents, 10)
    assert.equal(channel.sent.length, 1)
    assert.equal(channel.sent[0]!.type, 'error')
    const events: JsonObject[] = []
    const done = readAll(call.events, events)
    await turn()
    assert.deepEqual(
      events.map(({ n }) => n),
      Array.from({ length: MAX_EVENTS }, (_, n) => n),
    )
    call.close('over')
    await done
  })

  test('keeps what it sends until the channel is open, within bounds', () => {
    const { call, channel } = setUp()
    channel.open = false
    for (let n = 0; n < MAX_EVENTS + 3; n++) call.send({ n })
    call.sendKept()
    assert.deepEqual(channel.sent, [], 'it was not open yet')
    channel.open = true
    call.sendKept()
    call.send({ n: 'last' })
    assert.deepEqual(
      channel.sent.map(({ n }) => n),
      [...Array.from({ length: MAX_EVENTS }, (_, n) => n), 'last'],
    )
    assert.equal(call.counters.unsentEvents, 3)
  })

  test('sends nothing before what it kept', () => {
    const { call, channel } = setUp()
    channel.open = false
    call.send({ n: 1 })
    channel.open = true
    call.send({ n: 2 })
    call.sendKept()
    assert.deepEqual(channel.sent, [{ n: 1 }, { n: 2 }])
  })

  test('keeps so many characters and no more, each way', async () => {
    const { call, channel } = setUp()
    channel.open = false
    const text = 'x'.repeat(MAX_EVENT_TEXT / 4)
    for (let n = 0; n < 6; n++) call.send({ n, text })
    assert.equal(call.counters.unsentEvents, 3)
    assert.equal(call.takeKept().length, 3)
    for (let n = 0; n < 6; n++) call.send({ n, text })
    assert.equal(call.takeKept().length, 3, 'what was taken does not count any more')
    for (let n = 0; n < 6; n++) call.pushEvent({ n }, text.length)
    assert.equal(call.counters.droppedEvents, 2)
    const events: JsonObject[] = []
    const done = readAll(call.events, events)
    await turn()
    assert.equal(events.length, 4)
    for (let n = 0; n < 6; n++) call.pushEvent({ n }, text.length)
    assert.equal(call.counters.droppedEvents, 3, 'the reader had asked for one more')
    call.close('over')
    await done
  })

  test('takes one event of any length when nothing waits', () => {
    const { call } = setUp()
    call.pushEvent({}, MAX_EVENT_TEXT + 1)
    assert.equal(call.counters.droppedEvents, 0)
  })

  test('throws what is no JSON at its sender, and goes on', () => {
    const { call, channel } = setUp()
    const circle: JsonObject = {}
    circle.self = circle
    assert.throws(() => call.send(circle), TypeError)
    call.send({ n: 1 })
    assert.deepEqual(channel.sent, [{ n: 1 }])
  })

  test('cuts a long reason', () => {
    const { call, ended } = setUp()
    call.end('x'.repeat(1000))
    assert.equal(ended[0]?.length, MAX_REASON)
  })

  test('has one reader for each', async () => {
    const { call } = setUp()
    const iterator = call.audio[Symbol.asyncIterator]()
    assert.throws(
      () => call.audio[Symbol.asyncIterator](),
      (error) => error instanceof EdgeError && error.code === 'internal',
    )
    await iterator.return?.()
    call.pushFrame(frame(1))
    assert.deepEqual(await iterator.next(), { done: true, value: undefined })
  })

  test('tells the transceiver once that its bridge ends it', () => {
    const { call, ended } = setUp()
    call.end('done')
    call.end('again')
    call.close('done')
    call.end('after')
    assert.deepEqual(ended, ['done'])
  })

  test('does nothing any more once it is closed', async () => {
    const { call, channel, ended, played } = setUp()
    const events: JsonObject[] = []
    const done = readAll(call.events, events)
    call.pushFrame(frame(1))
    call.close('over')
    call.close('over')
    await done
    call.pushEvent({})
    call.send({})
    call.sendKept()
    call.end('x')
    await call.play(frame(1))
    assert.deepEqual([events, channel.sent, ended, played, call.flush()], [[], [], [], [], []])
    assert.ok(call.signal.aborted)
    assert.equal(call.signal.reason.name, 'AbortError')
    const frames: AudioFrame[] = []
    await readAll(call.audio, frames)
    assert.deepEqual(frames, [], 'audio outlived the call')
  })

  test('passes playing on', async () => {
    const { call, played } = setUp()
    await call.play(frame(9), 'a')
    assert.deepEqual([played, call.queuedMs, call.flush()], [[frame(9)], 7, [{ tag: 'a', playedMs: 1 }]])
  })
})
