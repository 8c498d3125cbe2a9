/**
 * The C library's calls for UDP in batches, through koffi: on 64-bit little-endian Linux, and nowhere else. Importing
 * this file loads nothing. Pointers are numbers, which is koffi's cheapest form of a call.
 */

import { koffi } from './native.ts'

/** The calls; each answers -1 when it failed, and `errno` then says why. */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number
  setsockopt(fd: number, level: number, name: number, value: number, length: number): number
  bind(fd: number, name: number, length: number): number
  getsockname(fd: number, name: number, length: number): number
  close(fd: number): number
  /** How many datagrams were taken. */
  recvmmsg(fd: number, messages: number, count: number, flags: number, timeout: number): number
  /** How many datagrams were sent; it stops at the first that is refused. */
  sendmmsg(fd: number, messages: number, count: number, flags: number): number
  poll(descriptors: number, count: number, timeout: number): number
  usleep(microseconds: number): number
  /** The calling thread's own when `pid` is 0. */
  sched_setaffinity(pid: number, size: number, mask: number): number
  sched_getaffinity(pid: number, size: number, mask: number): number
  /** `address` is that of a page. */
  madvise(address: number, length: number, advice: number): number
  /** A descriptor that can be read once something was written to it. */
  eventfd(value: number, flags: number): number
  read(fd: number, bytes: number, length: number): number
  write(fd: number, bytes: number, length: number): number
  /** Why the last call of this thread failed. */
  errno(): number
}

/** A descriptor that is watched until `close`. Keep it: one that is collected watches no more. */
export interface Watch {
  close(): void
}

let known: Libc | undefined
let looked = false

/** The calls, or undefined where there are none: another system, or no koffi for it. */
export function libc(): Libc | undefined {
  if (looked) return known
  looked = true
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return undefined
  try {
    known = load()
  } catch {
    // Told by whoever asked: it goes on with another engine.
  }
  return known
}

function load(): Libc {
  const native = koffi()
  const library = native.load(null)
  return {
    socket: library.func('int socket(int, int, int)'),
    setsockopt: library.func('int setsockopt(int, int, int, uintptr_t, uint32_t)'),
    bind: library.func('int bind(int, uintptr_t, uint32_t)'),
    getsockname: library.func('int getsockname(int, uintptr_t, uintptr_t)'),
    close: library.func('int close(int)'),
    recvmmsg: library.func('int recvmmsg(int, uintptr_t, uint32_t, int, uintptr_t)'),
    sendmmsg: library.func('int sendmmsg(int, uintptr_t, uint32_t, int)'),
    poll: library.func('int poll(uintptr_t, uint64_t, int)'),
    usleep: library.func('int usleep(uint32_t)'),
    sched_setaffinity: library.func('int sched_setaffinity(int, uint64_t, uintptr_t)'),
    sched_getaffinity: library.func('int sched_getaffinity(int, uint64_t, uintptr_t)'),
    madvise: library.func('int madvise(uintptr_t, uint64_t, int)'),
    eventfd: library.func('int eventfd(uint32_t, int)'),
    read: library.func('int64_t read(int, uintptr_t, uint64_t)'),
    write: library.func('int64_t write(int, uintptr_t, uint64_t)'),
    errno: () => native.errno(),
  }
}

/** Calls `run` from the event loop whenever `fd` can be read. What `run` throws is lost, so it must not throw. */
export function watchReadable(fd: number, run: () => void): Watch {
  return koffi().node.poll(fd, { readable: true }, run)
}
