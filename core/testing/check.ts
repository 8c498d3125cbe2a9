/** A conformance check is a name and an async function that rejects; a kit hands them to node:test. */

import { describe, test } from 'node:test'

/** One thing a plugin must do. `run` rejects when it does not. */
export type Check = readonly [name: string, run: () => Promise<void>]

/** Registers checks as tests under one heading. */
export function registerChecks(name: string, checks: readonly Check[]): void {
  describe(name, () => {
    for (const [what, run] of checks) test(what, run)
  })
}

/** Waits until `probe` resolves to true; rejects after `patience` ms with what was waited for. */
export async function eventually(
  what: string,
  probe: () => boolean | Promise<boolean>,
  patience = 2000,
): Promise<void> {
  const start = performance.now()
  while (!(await probe())) {
    if (performance.now() - start > patience) throw new Error(`it never came to be that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
