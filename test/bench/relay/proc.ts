/** What Linux tells of a process and of the machine, under /proc. Synchronous: it is read between two packets. */

import { readdirSync, readFileSync } from 'node:fs'

/** All threads of a process together, since they began. */
export interface ProcessTimes {
  /** Nanoseconds on a processor, in user and kernel. */
  readonly runNs: number
  /** Nanoseconds that they could have run and did not: another had the processor. */
  readonly waitNs: number
}

/** Nothing for a process that is gone. */
export function processTimes(pid: number): ProcessTimes {
  let runNs = 0
  let waitNs = 0
  for (const thread of list(`/proc/${pid}/task`)) {
    const [run, wait] = read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')
    runNs += Number(run ?? 0)
    waitNs += Number(wait ?? 0)
  }
  return { runNs, waitNs }
}

/** The resident set in bytes; 0 for a process that is gone. */
export function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
}

/** Seconds that the hypervisor gave to others while one of the machine's processors had work; since the boot. */
export function stolenSeconds(): number {
  const [, ...ticks] = read('/proc/stat').split('\n', 1)[0]!.split(/\s+/)
  return Number(ticks[7] ?? 0) / 100
}

/** Whether a UDP socket of IPv4 or IPv6 is bound to a port. */
export function isBound(port: number): boolean {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} `
  return ['udp', 'udp6'].some((table) =>
    read(`/proc/net/${table}`)
      .split('\n')
      .some((line) => line.trimStart().split(/\s+/)[1]?.concat(' ').endsWith(wanted)),
  )
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
