/** The conformance kit of inference bridges: what the transceiver relies on, whatever the backend. */

import assert from 'node:assert/strict'
import type { AudioFormat, AudioFrame, InferenceBridge, JsonObject } from '../contracts/inference-bridge.ts'
import { EdgeError } from '../errors.ts'
import { type Check, eventually, registerChecks } from './check.ts'
import { FakeCall } from './fake-call.ts'

/** A bridge, and what it takes to be rid of it and its backend. */
export interface BridgeUnderTest {
  readonly bridge: InferenceBridge
  close?(): void | Promise<void>
}

/** Makes a bridge anew, with a backend that works. */
export type MakeBridge = () => BridgeUnderTest | Promise<BridgeUnderTest>

/** What a bridge claims. */
export interface BridgeClaims {
  /** True when audio and events come back as they went, as with an echo behind it. Default false. */
  readonly echoes?: boolean
  /** How much it plays at most while there is no room. Default 1000. */
  readonly aheadMs?: number
  /** A bridge whose backend cannot be reached, where there is a backend. */
  readonly broken?: MakeBridge
}

/** Registers the kit's tests for a bridge. */
export function checkInferenceBridge(name: string, make: MakeBridge, claims: BridgeClaims = {}): void {
  registerChecks(`${name} keeps the inference bridge contract`, inferenceBridgeChecks(make, claims))
}

/** The kit's checks, to run by hand. */
export function inferenceBridgeChecks(make: MakeBridge, claims: BridgeClaims = {}): Check[] {
  const checks: Check[] = [
    ['reads what the caller says and sends', () => withBridge(make, reads)],
    ['is over when the call ends', () => withBridge(make, isOver)],
    ['is over at once for a call that has ended already', () => withBridge(make, isOverAtOnce)],
    ['leaves a call alone that has ended', () => withBridge(make, leavesAlone)],
  ]
  if (claims.echoes) {
    checks.push(
      ['brings every frame back, in order and in its format', () => withBridge(make, framesReturn)],
      ['brings every event back, in order', () => withBridge(make, eventsReturn)],
      ['keeps two calls apart', () => withBridge(make, keepsApart)],
      ['waits for room', () => withBridge(make, (bridge) => waits(bridge, claims.aheadMs ?? 1000))],
      ['rejects when a frame is refused', () => withBridge(make, refused)],
    )
  }
  const { broken } = claims
  if (broken) checks.push(['rejects when there is no backend', () => withBridge(broken, noBackend)])
  return checks
}

/** The n-th of different frames of 20 ms: samples in PCM, otherwise a packet of SILK's shape (RFC 6716 §3.1). */
export function sampleFrame(format: AudioFormat, n: number): AudioFrame {
  if (format === 'opus') {
    return { data: Uint8Array.of(8, n >> 8, n & 255), durationMs: 20, timestampMs: 20 * n }
  }
  const data = new Uint8Array((format.pcm16 / 50) * 2)
  for (let i = 0; i < data.length; i++) data[i] = (i & 1 ? n >> 8 : n) & 255
  return { data, durationMs: 20, timestampMs: 20 * n }
}

async function withBridge(make: MakeBridge, run: (bridge: InferenceBridge) => Promise<void>): Promise<void> {
  const { bridge, close } = await make()
  try {
    await run(bridge)
  } finally {
    await close?.()
  }
}

/** Opens the bridge on a call, runs, ends the call, and sees that the bridge is over and broke no rule. */
async function inCall(bridge: InferenceBridge, call: FakeCall, run: () => Promise<void>): Promise<void> {
  const opened = watch(open(bridge, call))
  try {
    await run()
    assert.equal(opened.state, 'pending', `it was over before the call: ${opened.error ?? 'resolved'}`)
  } finally {
    call.close()
  }
  await eventually('open resolved after the call had ended', () => opened.state !== 'pending')
  assert.equal(opened.state, 'resolved', `it rejected when the call ended: ${opened.error}`)
  assert.deepEqual(call.breaches, [])
}

function open(bridge: InferenceBridge, call: FakeCall): Promise<void> {
  let opened: unknown
  try {
    opened = bridge.open(call)
  } catch (error) {
    assert.fail(`open threw instead of rejecting: ${error}`)
  }
  assert.ok(opened instanceof Promise, 'open answered no promise')
  return opened
}

interface Watched {
  state: 'pending' | 'resolved' | 'rejected'
  error: unknown
}

function watch(promise: Promise<void>): Watched {
  const watched: Watched = { state: 'pending', error: undefined }
  promise.then(
    () => {
      watched.state = 'resolved'
    },
    (error: unknown) => {
      watched.state = 'rejected'
      watched.error = error
    },
  )
  return watched
}

function speech(format: AudioFormat, count: number, first = 1): AudioFrame[] {
  return Array.from({ length: count }, (_, i) => sampleFrame(format, first + i))
}

function bytesOf(frames: readonly AudioFrame[]): string {
  return Buffer.concat(frames.map((frame) => frame.data)).toString('hex')
}

async function reads(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    call.speak(...speech(bridge.audio, 10))
    call.say({ type: 'test.one' }, { type: 'test.two' })
    await eventually('everything was read', () => call.unread === 0)
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

async function framesReturn(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  const spoken = speech(bridge.audio, 100)
  await inCall(bridge, call, async () => {
    call.speak(...spoken)
    const wanted = bytesOf(spoken)
    await eventually('as much came back as was spoken', () => bytesOf(call.played).length >= wanted.length)
    assert.ok(bytesOf(call.played) === wanted, 'other audio came back than was spoken')
  })
}

async function eventsReturn(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio)
  const said: JsonObject[] = Array.from({ length: 50 }, (_, n) => ({
    type: 'test',
    n,
    deep: { list: [n, null, '✓'] },
  }))
  await inCall(bridge, call, async () => {
    call.say(...said)
    await eventually('as many events came back as were sent', () => call.sent.length >= said.length)
    assert.deepEqual(call.sent, said)
  })
}

async function keepsApart(bridge: InferenceBridge): Promise<void> {
  const calls = [0, 1].map((n) => new FakeCall(bridge.audio, { id: `rtc_test${n}` }))
  const spoken = calls.map((_, n) => speech(bridge.audio, 20, 1 + 1000 * n))
  const opened = calls.map((call) => watch(open(bridge, call)))
  for (const [n, call] of calls.entries()) call.speak(...spoken[n]!)
  for (const [n, call] of calls.entries()) {
    const wanted = bytesOf(spoken[n]!)
    await eventually('both calls’ audio came back', () => bytesOf(call.played).length >= wanted.length)
    assert.ok(bytesOf(call.played) === wanted, 'a call heard another’s audio')
  }
  for (const call of calls) call.close()
  await eventually('both were over', () => opened.every(({ state }) => state === 'resolved'))
}

async function waits(bridge: InferenceBridge, aheadMs: number): Promise<void> {
  const call = new FakeCall(bridge.audio, { hold: true })
  const spoken = speech(bridge.audio, 500)
  await inCall(bridge, call, async () => {
    call.speak(...spoken)
    await settles(() => call.played.length)
    assert.ok(call.queuedMs > 0, 'nothing was played')
    assert.ok(call.queuedMs <= 200 + aheadMs, `${call.queuedMs} ms were played while there was no room`)
    call.release()
    const wanted = bytesOf(spoken)
    await eventually('the rest was played', () => bytesOf(call.played).length >= wanted.length)
    assert.ok(bytesOf(call.played) === wanted, 'other audio was played than was spoken')
  })
}

/** Waits until a count has stood still for a while. */
async function settles(count: () => number): Promise<void> {
  let last = -1
  let since = performance.now()
  await eventually('the bridge came to rest', () => {
    if (count() !== last) {
      last = count()
      since = performance.now()
    }
    return last > 0 && performance.now() - since > 100
  })
}

async function refused(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio, { refuse: new EdgeError('bridge_failed', 'not such a frame') })
  const opened = watch(open(bridge, call))
  call.speak(...speech(bridge.audio, 3))
  await eventually('open rejected', () => opened.state !== 'pending')
  call.close()
  assert.equal(opened.state, 'rejected', 'it resolved')
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
