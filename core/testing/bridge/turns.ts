/** What a bridge must do that answers the caller in turns and can be interrupted. */

import assert from 'node:assert/strict'
import type { InferenceBridge } from '../../contracts/inference-bridge.ts'
import { type Check, eventually } from '../check.ts'
import { FakeCall } from '../fake-call.ts'
import { inCall, type MakeBridge, settles, speech, withBridge } from './in-call.ts'

/** How a bridge is made to answer and to stop. */
export interface BridgeTurns {
  /** The caller says something, to which the answer is a second of audio or more. */
  ask(call: FakeCall): void
  /** The caller speaks over the answer, or the client cancels it: no new answer follows from it. */
  interrupt(call: FakeCall): void
  /** Where the client can end its turn by an event: it does so. The bridge must have `heard` the caller by then. */
  commit?(call: FakeCall): void
}

/** What is released of an answer before it is interrupted. */
const HEARD_MS = 130
const NO_ANSWER = 'it answered'

/** The checks; `aheadMs` is how much it plays at most while there is no room. */
export function checksOfTurns(make: MakeBridge, turns: BridgeTurns, aheadMs: number): Check[] {
  type Run = (bridge: InferenceBridge, turns: BridgeTurns, aheadMs: number) => Promise<void>
  const check = (name: string, run: Run): Check => [
    name,
    () => withBridge(make, (bridge) => run(bridge, turns, aheadMs)),
  ]
  const checks = [
    check('plays an answer no faster than there is room', waitsForRoom),
    check('hears the caller while its answer waits for room', hearsMeanwhile),
    check('stops its answer when it is interrupted', stops),
    check('tags its answer, so that a flush tells how much was heard', tags),
    check('takes an interruption of nothing', interruptsNothing),
    check('answers again after an interruption', answersAgain),
    check('answers again after an answer that was heard to its end', answersAfterDrain),
    check('is over when the call ends in mid-answer', isOverInMidAnswer),
  ]
  if (turns.commit) checks.push(check('has heard the caller before it ends the turn', hasHeard))
  return checks
}

/** In a call where nothing leaves, once an answer is waiting for room; in the end what is left of it leaves. */
async function inAnswer(
  bridge: InferenceBridge,
  { ask }: BridgeTurns,
  run: (call: FakeCall) => Promise<void>,
): Promise<void> {
  const call = new FakeCall(bridge.audio, { hold: true })
  await inCall(bridge, call, async () => {
    ask(call)
    await eventually(NO_ANSWER, () => call.queuedMs >= 200)
    await run(call)
    call.release()
    await settles(() => call.played.length)
  })
}

/** Interrupts the answer; whoever takes turns may have flushed before. */
async function interrupted(call: FakeCall, { interrupt }: BridgeTurns): Promise<void> {
  const before = call.flushes.length
  interrupt(call)
  await eventually('it flushed', () => call.flushes.length > before)
}

async function waitsForRoom(bridge: InferenceBridge, turns: BridgeTurns, aheadMs: number): Promise<void> {
  await inAnswer(bridge, turns, async (call) => {
    await settles(() => call.played.length)
    assert.ok(call.queuedMs <= 200 + aheadMs, `${call.queuedMs} ms were played while there was no room`)
  })
}

async function hearsMeanwhile(bridge: InferenceBridge, turns: BridgeTurns): Promise<void> {
  await inAnswer(bridge, turns, async (call) => {
    call.speak(...speech(bridge.audio, 50))
    call.say({ type: 'test.meanwhile' })
    await eventually('what the caller said meanwhile was read', () => call.unread === 0)
  })
}

async function stops(bridge: InferenceBridge, turns: BridgeTurns): Promise<void> {
  await inAnswer(bridge, turns, async (call) => {
    await interrupted(call, turns)
    await settles(() => call.played.length)
    assert.equal(call.queuedMs, 0, 'more of the answer was played after it had been flushed')
  })
}

async function tags(bridge: InferenceBridge, turns: BridgeTurns): Promise<void> {
  await inAnswer(bridge, turns, async (call) => {
    call.release(HEARD_MS)
    await interrupted(call, turns)
    const found = call.flushes.at(-1)!.reduce((sum, { playedMs }) => sum + playedMs, 0)
    assert.equal(found, HEARD_MS, 'the flush found less than was heard: frames were played without a tag')
  })
}

async function interruptsNothing(bridge: InferenceBridge, turns: BridgeTurns): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    turns.interrupt(call)
    turns.interrupt(call)
    await eventually('the interruptions were read', () => call.unread === 0)
    await settles(() => call.played.length, 0)
  })
}

async function answersAgain(bridge: InferenceBridge, turns: BridgeTurns): Promise<void> {
  await inAnswer(bridge, turns, async (call) => {
    await interrupted(call, turns)
    await settles(() => call.played.length)
    turns.ask(call)
    await eventually('it answered again', () => call.queuedMs >= 200)
  })
}

async function answersAfterDrain(bridge: InferenceBridge, turns: BridgeTurns): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    for (let n = 0; n < 3; n++) {
      const before = call.played.length
      turns.ask(call)
      await eventually(NO_ANSWER, () => call.played.length > before)
      await settles(() => call.played.length)
    }
  })
}

async function isOverInMidAnswer(bridge: InferenceBridge, { ask }: BridgeTurns): Promise<void> {
  const call = new FakeCall(bridge.audio, { hold: true })
  await inCall(bridge, call, async () => {
    ask(call)
    await eventually(NO_ANSWER, () => call.queuedMs >= 200)
  })
}

async function hasHeard(bridge: InferenceBridge, { commit }: BridgeTurns): Promise<void> {
  const call = new FakeCall(bridge.audio)
  await inCall(bridge, call, async () => {
    call.speak(...speech(bridge.audio, 20))
    commit?.(call)
    await eventually('it asked what was heard', () => call.hearings.length > 0)
    await eventually('it read the audio and the events', () => call.unread === 0)
    await Promise.all(call.hearings)
  })
}
