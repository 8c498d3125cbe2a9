/**
 * Memory that threads share, for tables that are read at random: it begins at a boundary of cache lines, so that a
 * record of 64 bytes lies in one, and from a huge page's size on it asks for huge pages, for a table of ordinary ones
 * costs a walk of the page tables for nearly every look-up.
 */

import { libc } from './libc.ts'
import { addressOf } from './native.ts'

const CACHE_LINE = 64
const HUGE_PAGE = 2 ** 21
/** `MADV_HUGEPAGE`. */
const WANT_HUGE_PAGES = 14

/**
 * So many zeroed bytes in a SharedArrayBuffer. Where there is no koffi they begin where the engine puts them; a system
 * that has no huge pages to give takes ordinary ones.
 */
export function sharedMemory(size: number): Uint8Array<SharedArrayBuffer> {
  const calls = libc()
  if (calls === undefined) return new Uint8Array(new SharedArrayBuffer(size))
  const boundary = size < HUGE_PAGE ? CACHE_LINE : HUGE_PAGE
  const buffer = new SharedArrayBuffer(size + boundary)
  const start = addressOf(new Uint8Array(buffer))
  const offset = (boundary - (start % boundary)) % boundary
  if (boundary === HUGE_PAGE) calls.madvise(start + offset, size, WANT_HUGE_PAGES)
  return new Uint8Array(buffer, offset, size)
}
