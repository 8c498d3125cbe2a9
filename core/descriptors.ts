/** How much of the process's file descriptors a listener may take, so that what else needs them finds some. */

import { isObject } from './config/pointer.ts'

/**
 * The most connections that a public listener may hold: `wanted`, and never more than half of the `limit` of
 * descriptors. The other half is for probes, UDP, backends and files, which a flood must not take.
 */
export function connectionsWithin(wanted: number, limit: number): number {
  return Math.max(1, Math.min(wanted, Math.floor(limit / 2)))
}

/** How many descriptors this process may have open (`ulimit -n`); Infinity where the system names no limit. */
export function descriptorLimit(): number {
  limit ??= readLimit()
  return limit
}

let limit: number | undefined

function readLimit(): number {
  const { report } = process
  // Otherwise it asks DNS for the names of all that is connected, and waits.
  const before: unknown = Reflect.get(report, 'excludeNetwork')
  Reflect.set(report, 'excludeNetwork', true)
  try {
    const read: unknown = report.getReport()
    const limits = isObject(read) && isObject(read.userLimits) ? read.userLimits.open_files : undefined
    const soft = isObject(limits) ? limits.soft : undefined
    return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY
  } finally {
    Reflect.set(report, 'excludeNetwork', before)
  }
}
