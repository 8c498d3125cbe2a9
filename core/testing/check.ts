/** A conformance check is a name and an async function that rejects; a kit hands them to node:test. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, type TestContext, test } from 'node:test'

/** How long is waited for what ought to come, in milliseconds: long enough for a machine that has much else to do. */
const PATIENCE = 15_000

const patienceNow = new AsyncLocalStorage<number>()

/** One thing a plugin must do. `run` rejects when it does not, and resolves with a reason where it cannot be seen. */
export type Check = readonly [name: string, run: () => Promise<void> | Promise<string | undefined>]

/** Registers checks as tests under one heading. */
export function registerChecks(name: string, checks: readonly Check[]): void {
  describe(name, () => {
    for (const [what, run] of checks) test(what, async (t) => skip(t, await run()))
  })
}

function skip(t: TestContext, reason: unknown): void {
  if (typeof reason === 'string') t.skip(reason)
}

/** Runs with another patience than usual, for checks that ought to fail and would take their time to. */
export function withPatience<T>(patience: number, run: () => T): T {
  return patienceNow.run(patience, run)
}

/** Waits until `probe` resolves to true; rejects after `patience` ms with what was waited for. */
export async function eventually(
  what: string,
  probe: () => boolean | Promise<boolean>,
  patience = patienceNow.getStore() ?? PATIENCE,
): Promise<void> {
  const start = performance.now()
  while (!(await probe())) {
    if (performance.now() - start > patience) throw new Error(`it never came to be that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
