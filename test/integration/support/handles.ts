/** What keeps this process alive, so that a test can tell whether something was left behind. */

import assert from 'node:assert/strict'
import { eventually } from '../../../core/testing/check.ts'

/** What a wait or a module that is loading has for a moment. */
const PASSING = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise'])

/** The kinds of handles and timers that are open now, sorted. */
export function handles(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !PASSING.has(name))
    .sort()
}

/** Waits until the handles are these again; fails with the difference. */
export async function assertHandles(expected: readonly string[]): Promise<void> {
  const text = expected.join()
  await eventually('the handles are as before', () => handles().join() === text, 5000).catch(() => {})
  assert.deepEqual(handles(), expected)
}
