/** What a bridge must do whose audio and events come back as they went, as with an echo behind it. */

import assert from 'node:assert/strict'
import type { InferenceBridge, JsonObject } from '../../contracts/inference-bridge.ts'
import { EdgeError } from '../../errors.ts'
import { type Check, eventually } from '../check.ts'
import { FakeCall } from '../fake-call.ts'
import { bytesOf, inCall, type MakeBridge, open, settles, speech, watch, withBridge } from './in-call.ts'

/** The checks; `aheadMs` is how much it plays at most while there is no room. */
export function checksOfEchoes(make: MakeBridge, aheadMs: number): Check[] {
  return [
    ['brings every frame back, in order and in its format', () => withBridge(make, framesReturn)],
    ['brings every event back, in order', () => withBridge(make, eventsReturn)],
    ['keeps two calls apart', () => withBridge(make, keepsApart)],
    ['waits for room', () => withBridge(make, (bridge) => waits(bridge, aheadMs))],
    ['rejects when a frame is refused', () => withBridge(make, refused)],
  ]
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

async function refused(bridge: InferenceBridge): Promise<void> {
  const call = new FakeCall(bridge.audio, { refuse: new EdgeError('bridge_failed', 'not such a frame') })
  const opened = watch(open(bridge, call))
  call.speak(...speech(bridge.audio, 3))
  await eventually('open rejected', () => opened.state !== 'pending')
  call.close()
  assert.equal(opened.state, 'rejected', 'it resolved')
}
