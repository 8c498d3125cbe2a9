/**
 * Cryptographic random bytes by the poolful: a call to the generator costs some 10 µs however few bytes it gives, and a
 * new call needs a dozen small numbers.
 *
 * Promise: each byte is given out once, and is no longer in the pool then.
 */

import { randomFillSync } from 'node:crypto'

const pool = Buffer.allocUnsafeSlow(4096)
let used = pool.length

/** Fills `into` with random bytes. */
export function fillRandom(into: Uint8Array): void {
  const { length } = into
  if (length > pool.length / 4) {
    randomFillSync(into)
    return
  }
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  pool.copy(into, 0, used, used + length)
  pool.fill(0, used, used + length)
  used += length
}

/** `length` random bytes, the caller's to keep. */
export function randomBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  fillRandom(bytes)
  return bytes
}
