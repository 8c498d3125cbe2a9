import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AudioFrame, PlayoutEvent } from '../../../../core/index.ts'
import { Call, MAX_PLAYOUT } from '../../../../plugins/transceiver/call.ts'

const frame = (n: number): AudioFrame => ({ data: Uint8Array.of(n), durationMs: 20 })
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function setUp() {
  const held: AudioFrame[] = []
  let say = (_event: PlayoutEvent): void => {}
  const call: Call = new Call({
    id: 'rtc_x',
    traceSession: new Uint8Array(8),
    caller: { name: 'anonymous' },
    media: {
      play: async () => {},
      flush: () => [],
      queuedMs: 0,
      follow: (onPlayout) => {
        say = onPlayout
      },
      handOut: () => {
        for (const one of held.splice(0)) call.pushFrame(one)
      },
    },
    sendEvent: () => true,
    onEnd: () => {},
  })
  return { call, held, say: (event: PlayoutEvent) => say(event) }
}

/** Reads a call's audio, a frame a turn of the event loop. */
function readSlowly(call: Call): number[] {
  const read: number[] = []
  const run = async (): Promise<void> => {
    for await (const one of call.audio) {
      await turn()
      read.push(one.data[0]!)
    }
  }
  void run()
  return read
}

describe('what a call has heard', () => {
  test('is read, with what the jitter buffer held, when heard resolves', async () => {
    const { call, held } = setUp()
    call.pushFrame(frame(1))
    call.pushFrame(frame(2))
    const read = readSlowly(call)
    held.push(frame(3))
    const heard = call.heard().then(() => [...read])
    call.pushFrame(frame(4))
    assert.deepEqual(await heard, [1, 2, 3])
    await call.heard()
    assert.deepEqual(read, [1, 2, 3, 4])
    await call.heard()
    call.close('over')
  })

  test('is waited for neither without a reader nor after the end', async () => {
    const { call } = setUp()
    call.pushFrame(frame(1))
    await call.heard()
    readSlowly(call)
    const heard = call.heard()
    call.close('over')
    await heard
    await call.heard()
  })

  test('does not count what was dropped unread as outstanding', async () => {
    const { call } = setUp()
    const read = readSlowly(call)
    for (let n = 0; n < 150; n++) call.pushFrame(frame(n))
    await call.heard()
    assert.equal(read.at(-1), 149)
    assert.ok(read.length < 150)
    call.close('over')
  })
})

describe('the playout of a call', () => {
  test('is told in order, ends with the call, and has one reader', async () => {
    const { call, say } = setUp()
    const told: PlayoutEvent[] = []
    say({ type: 'started', tag: 'a' })
    const run = async (): Promise<void> => {
      for await (const event of call.playout) told.push(event)
    }
    const done = run()
    assert.throws(() => call.playout[Symbol.asyncIterator](), /one reader/)
    await turn()
    say({ type: 'drained' })
    await turn()
    call.close('over')
    say({ type: 'drained' })
    await done
    assert.deepEqual(told, [{ type: 'started', tag: 'a' }, { type: 'drained' }])
  })

  test('keeps the latest events for a late reader, and no more', async () => {
    const { call, say } = setUp()
    for (let n = 0; n < 1000; n++) say({ type: 'started', tag: `${n}` })
    const told: PlayoutEvent[] = []
    const run = async (): Promise<void> => {
      for await (const event of call.playout) told.push(event)
    }
    void run()
    await turn()
    assert.equal(told.length, MAX_PLAYOUT)
    assert.deepEqual(told.at(-1), { type: 'started', tag: '999' })
    call.close('over')
  })
})
