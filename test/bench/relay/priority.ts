/**
 * Puts this session ahead of others while a benchmark runs: where Linux groups processes by session (autogroup), `nice`
 * counts only among those of one session.
 */

import { readFileSync, writeFileSync } from 'node:fs'

const FILE = '/proc/self/autogroup'
const AHEAD = -15

/** Until the end of the scope: `using`. Does nothing where it may not, or where there are no such groups. */
export function aheadOfOthers(): Disposable {
  const before = read()
  if (before !== undefined) write(AHEAD)
  return {
    [Symbol.dispose]() {
      if (before !== undefined) write(before)
    },
  }
}

function read(): number | undefined {
  try {
    const nice = /nice (-?\d+)/.exec(readFileSync(FILE, 'latin1'))?.[1]
    return nice === undefined ? undefined : Number(nice)
  } catch {
    return undefined
  }
}

function write(nice: number): void {
  try {
    writeFileSync(FILE, String(nice))
  } catch {
    // Not root: what is disturbed is measured again.
  }
}
