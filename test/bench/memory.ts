/**
 * Memory of a connected, idle call in the server's process: what the resident set grows by, garbage collected, and how
 * much of it JavaScript's heap and buffers are. A fresh process for each server, with calls in being before the count begins,
 * so that what a process grows by once (code, its young generation) is not counted as the calls'.
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

async function growth(kind: ServerKind, calls: number): Promise<Growth> {
  await using server = await ServerProcess.start(kind)
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

/** Runs it; about 25 s, or 12 when quick. */
export async function run({ quick }: BenchOptions): Promise<BenchResult> {
  const calls = quick ? 50 : 300
  const ours = await growth('edge', calls)
  const theirs = await growth('libdatachannel', calls)
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
  return { name: 'memory', figures: [resident, script] }
}
