/** What every inference bridge must do. */

import assert from 'node:assert/strict'
import type {
  AudioFormat,
  AudioFrame,
  InferenceBridge,
  JsonObject,
} from '../../contracts/inference-bridge.ts'
import { EdgeError } from '../../errors.ts'
import { type Check, eventually } from '../check.ts'
import { FakeCall } from '../fake-call.ts'
import { inCall, type MakeBridge, open, sampleFrame, speech, watch, withBridge } from './in-call.ts'

/** The checks of every bridge; `spans` says whether it gives its spans. */
export function checksOfAll(make: MakeBridge): Check[] {
  return [
    ['reads what the caller says and sends', () => withBridge(make, reads)],
    ['takes audio of any length', () => withBridge(make, anyLength)],
    ['lives through events of any shape', () => withBridge(make, anyEvent)],
    ['is over when the call ends', () => withBridge(make, isOver)],
    ['is over at once for a call that has ended already', () => withBridge(make, isOverAtOnce)],
    ['leaves a call alone that has ended', () => withBridge(make, leavesAlone)],
    ['ends every span it began, in its call’s trace', () => traces(make)],
  ]
}

/** The check of a bridge whose backend cannot be reached. */
export function checkWithoutBackend(broken: MakeBridge): Check {
  return ['rejects when there is no backend', () => withBridge(broken, noBackend)]
}

async function reads(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    call.speak(...speech(bridge.audio, 10))
    call.say({ type: 'test.one' }, { type: 'test.two' })
    await eventually('everything was read', () => call.unread === 0)
  })
}

/** Callers choose their packets' length, and what is made up for lost ones is of any (RFC 6716 §2.1.4). */
async function anyLength(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    call.speak(...[2.5, 5, 10, 40, 60, 120, 117.5].map((ms) => frameOf(bridge.audio, ms)))
    await eventually('frames of other lengths were read', () => call.unread === 0)
    call.speak(...speech(bridge.audio, 5))
    await eventually('the frames after them were read', () => call.unread === 0)
    await new Promise((resolve) => setImmediate(resolve))
  })
}

function frameOf(format: AudioFormat, durationMs: number): AudioFrame {
  if (format === 'opus') return { ...sampleFrame(format, 1), data: Uint8Array.of(8), durationMs }
  return { data: new Uint8Array((format.pcm16 / 1000) * durationMs * 2), durationMs, timestampMs: 0 }
}

/** Clients are anybody's. */
async function anyEvent(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  const events: JsonObject[] = [
    {},
    { type: null },
    { type: 7, session: 'none' },
    { type: ['a'], item: {} },
    { type: '', audio: 'AAAA', event_id: {} },
    JSON.parse('{"__proto__":{"type":"x"},"constructor":1}'),
    { type: 'telephone_event', digit: '5', duration_ms: 100 },
  ]
  await inCall(bridge, call, async () => {
    call.say(...events)
    await eventually('events of odd shapes were read', () => call.unread === 0)
    call.say({ type: 'test.after' })
    await eventually('the event after them was read', () => call.unread === 0)
    await new Promise((resolve) => setImmediate(resolve))
  })
}

async function isOver(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {})
}

async function isOverAtOnce(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  call.close()
  const opened = watch(open(bridge, call))
  await eventually('open resolved', () => opened.state !== 'pending')
  assert.equal(opened.state, 'resolved', `it rejected: ${opened.error}`)
  assert.deepEqual(call.breaches, [])
}

async function leavesAlone(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    call.speak(...speech(bridge.audio, 50))
    call.say({ type: 'test.late' })
    await eventually('the bridge began to read', () => call.unread < 51)
  })
  // What a backend had under way when the call ended has come back by the time another call's audio has.
  const after = new FakeCall(bridge.audio)
  await inCall(bridge, after, async () => {
    after.speak(...speech(bridge.audio, 5))
    await eventually('a later call was read', () => after.unread === 0)
  })
  assert.deepEqual(call.breaches, [])
}

async function traces(make: MakeBridge): Promise<void> {
  await withBridge(make, async (bridge, { spans }) => {
    if (!spans) return
    const call = new FakeCall(bridge.audio)
    await inCall(bridge, call, async () => {
      call.speak(...speech(bridge.audio, 10))
      await eventually('everything was read', () => call.unread === 0)
    })
    await eventually('every span was ended', () => spans.every(({ ended }) => ended))
    const session = Buffer.from(call.traceSession).toString('hex')
    const strays = spans.filter((span) => span.session !== session).map(({ name }) => name)
    assert.deepEqual(strays, [], 'spans began outside their call’s trace')
  })
}

async function noBackend(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  const opened = watch(open(bridge, call))
  await eventually('open rejected', () => opened.state !== 'pending')
  call.close()
  assert.equal(opened.state, 'rejected', 'it resolved')
  assert.ok(opened.error instanceof EdgeError, `it rejected with no EdgeError but ${opened.error}`)
  assert.match(opened.error.code, /^bridge_(failed|timeout)$/)
}
