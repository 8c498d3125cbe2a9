/**
 * Memory of a connected, idle call in the server's process: what the resident set grows by, garbage collected, and how
 * much of it JavaScript's heap and buffers are. A fresh process for each server, with calls in being before the count begins,
 * so that what a process grows by once is not counted as the calls'.
 *
 * The engine's young generation is such a thing, but it grows with how fast calls come, for as long as they come: by
 * default to 100 MB. So it is held small in both servers' processes. What ours grows by without that is told too.
 */

import type { BenchFigure, BenchOptions, BenchResult } from './result.ts'
import { closeAll, connectMany } from './support/load.ts'
import { type ServerKind, ServerProcess } from './support/server-process.ts'
import type { Usage } from './support/server-protocol.ts'

const TARGET_KB = 120

interface Growth {
  readonly residentKb: number
  readonly scriptKb: number
}

const SMALL_YOUNG_GENERATION = ['--max-semi-space-size=8']

async function growth(kind: ServerKind, calls: number, execArgv: readonly string[]): Promise<Growth> {
  await using server = await ServerProcess.start(kind, execArgv)
  const clients = await connectMany(server, Math.ceil(calls / 2))
  try {
    const before = await settled(server)
    clients.push(...(await connectMany(server, calls)))
    const after = await settled(server)
    const script = after.heapBytes + after.externalBytes - before.heapBytes - before.externalBytes
    return {
      residentKb: (after.rssBytes - before.rssBytes) / 1024 / calls,
      scriptKb: script / 1024 / calls,
    }
  } finally {
    await closeAll(clients)
  }
}

/** Handshakes leave garbage behind, and timers that end after a second or two. */
async function settled(server: ServerProcess): Promise<Usage> {
  await new Promise((resolve) => setTimeout(resolve, 2500))
  return server.settle()
}

/** Runs it; about a minute, or 20 s when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const calls = quick ? 50 : 1000
  const ours = await growth('edge', calls, SMALL_YOUNG_GENERATION)
  const theirs = await growth('libdatachannel', calls, SMALL_YOUNG_GENERATION)
  const byDefault = await growth('edge', calls, [])
  const ratio = ours.residentKb / theirs.residentKb
  const resident: BenchFigure = {
    label: `resident memory of an idle call, of ${calls}`,
    value: ours.residentKb,
    unit: 'KB',
    peers: [{ label: 'libdatachannel', value: theirs.residentKb, ratio }],
    target: `≤ ${TARGET_KB} KB`,
    met: ours.residentKb <= TARGET_KB,
  }
  const script: BenchFigure = {
    label: 'of that, heap and buffers of JavaScript',
    value: ours.scriptKb,
    unit: 'KB',
    peers: [],
  }
  const unbounded: BenchFigure = {
    label: 'the same by Node’s defaults, its young generation counted',
    value: byDefault.residentKb,
    unit: 'KB',
    peers: [],
  }
  return { name: 'memory', figures: [resident, script, unbounded] }
}
