/** What the checks of inference bridges have in common: a bridge, a call for it, and what became of it. */

import assert from 'node:assert/strict'
import type { AudioFormat, AudioFrame, InferenceBridge } from '../../contracts/inference-bridge.ts'
import { eventually } from '../check.ts'
import type { FakeCall } from '../fake-call.ts'
import type { RecordedSpan } from '../span-log.ts'

/** A bridge, and what it takes to be rid of it and its backend. */
export interface BridgeUnderTest {
  readonly bridge: InferenceBridge
  /** The spans it has begun, where it traces: those of its plugin context. */
  readonly spans?: readonly RecordedSpan[]
  close?(): void | Promise<void>
}

/** Makes a bridge anew, with a backend that works. */
export type MakeBridge = () => BridgeUnderTest | Promise<BridgeUnderTest>

/** Runs a check with a bridge of its own. */
export async function withBridge(
  make: MakeBridge,
  run: (bridge: InferenceBridge, made: BridgeUnderTest) => Promise<void>,
): Promise<void> {
  const made = await make()
  try {
    await run(made.bridge, made)
  } finally {
    await made.close?.()
  }
}

/** Opens the bridge on a call, runs, ends the call, and sees that the bridge is over and broke no rule. */
export async function inCall(
  bridge: InferenceBridge,
  call: FakeCall,
  run: () => Promise<void>,
): Promise<void> {
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

/** Opens a bridge, which must answer with a promise. */
export function open(bridge: InferenceBridge, call: FakeCall): Promise<void> {
  let opened: unknown
  try {
    opened = bridge.open(call)
  } catch (error) {
    assert.fail(`open threw instead of rejecting: ${error}`)
  }
  assert.ok(opened instanceof Promise, 'open answered no promise')
  return opened
}

/** What has become of a promise by now. */
export interface Watched {
  state: 'pending' | 'resolved' | 'rejected'
  error: unknown
}

/** Follows a promise. */
export function watch(promise: Promise<void>): Watched {
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

/** The n-th of different frames of 20 ms: samples in PCM, otherwise a packet of SILK's shape (RFC 6716 §3.1). */
export function sampleFrame(format: AudioFormat, n: number): AudioFrame {
  if (format === 'opus') {
    return { data: Uint8Array.of(8, n >> 8, n & 255), durationMs: 20, timestampMs: 20 * n }
  }
  const data = new Uint8Array((format.pcm16 / 50) * 2)
  for (let i = 0; i < data.length; i++) data[i] = (i & 1 ? n >> 8 : n) & 255
  return { data, durationMs: 20, timestampMs: 20 * n }
}

/** So many different frames, from the `first` on. */
export function speech(format: AudioFormat, count: number, first = 1): AudioFrame[] {
  return Array.from({ length: count }, (_, i) => sampleFrame(format, first + i))
}

/** Frames' bytes, to be compared. */
export function bytesOf(frames: readonly AudioFrame[]): string {
  return Buffer.concat(frames.map((frame) => frame.data)).toString('hex')
}

/** Waits until a count above 0, or any with `least` 0, has stood still for a while. */
export async function settles(count: () => number, least = 1): Promise<void> {
  let last = -1
  let since = performance.now()
  await eventually('the bridge came to rest', () => {
    if (count() !== last) {
      last = count()
      since = performance.now()
    }
    return last >= least && performance.now() - since > 100
  })
}
