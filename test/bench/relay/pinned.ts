/** Processes on processors of their own, ahead of others where the system lets us. Linux. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

const STOP_WITHIN_MS = 3000

/** Starts a program on these processors, by `taskset`; as root also by `nice`, so that neighbours wait and not it. */
export function spawnPinned(
  cpus: readonly number[],
  command: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const first = process.getuid?.() === 0 ? ['nice', '-n', '-15'] : []
  const [program, ...args] = [...first, 'taskset', '-c', cpus.join(','), ...command]
  return spawn(program!, args, options)
}

/** Ends a process that was started here, and waits until it is gone. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
  await exit
  clearTimeout(timer)
}
