/** Which processors this process may use, and a thread's place on one of them (`sched_setaffinity`). */

import type { Libc } from './libc.ts'
import { addressOf, nativeBuffer } from './native.ts'

/** Room for 8192 processors. */
const MASK_BYTES = 1024

/** The numbers of the processors that the calling thread may run on; empty where the system does not say. */
export function allowedCpus(libc: Libc): number[] {
  const mask = nativeBuffer(MASK_BYTES)
  if (libc.sched_getaffinity(0, MASK_BYTES, addressOf(mask)) < 0) return []
  const cpus: number[] = []
  for (let i = 0; i < 8 * MASK_BYTES; i++) if ((mask[i >>> 3]! >>> (i & 7)) & 1) cpus.push(i)
  return cpus
}

/** Keeps the calling thread on one processor; false when the system refuses. */
export function pinThread(libc: Libc, cpu: number): boolean {
  const mask = nativeBuffer(MASK_BYTES)
  mask[cpu >>> 3] = 1 << (cpu & 7)
  return libc.sched_setaffinity(0, MASK_BYTES, addressOf(mask)) === 0
}
