/**
 * Addresses as the kernel has them (`sockaddr_in`, `sockaddr_in6`) in 32-bit words of a memory block, little-endian.
 * Pure: it only reads and writes words.
 */

import type { Address } from '../wire/address.ts'

/** Bytes to keep for a name, whatever its family. */
export const NAME_SIZE = 32

/** `AF_INET` and `AF_INET6` on Linux. */
export const AF_INET = 2
export const AF_INET6 = 10

/** The length of a name of a family, in bytes. */
export function nameLength(family: number): number {
  return family === AF_INET ? 16 : 28
}

/** Writes `address` at word `at`, as a socket of this family wants it; an IPv4 socket takes IPv4 only. */
export function writeName(words: Uint32Array, at: number, family: number, address: Address): void {
  const { port } = address
  words[at] = family | (((port & 255) << 24) | ((port >>> 8) << 16))
  if (family === AF_INET) {
    words[at + 1] = swap(address.w3)
    return
  }
  words[at + 1] = 0
  words[at + 2] = swap(address.w0)
  words[at + 3] = swap(address.w1)
  words[at + 4] = swap(address.w2)
  words[at + 5] = swap(address.w3)
  words[at + 6] = 0
}

/** Reads the name at word `at` into `into`; false for a family that is neither IPv4 nor IPv6. */
export function readName(words: Uint32Array, at: number, into: Address): boolean {
  const head = words[at]!
  const family = head & 0xffff
  const port = ((head >>> 24) & 255) | ((head >>> 8) & 0xff00)
  if (family === AF_INET) into.set(0, 0, 0xffff, swap(words[at + 1]!), port)
  else if (family === AF_INET6) {
    into.set(swap(words[at + 2]!), swap(words[at + 3]!), swap(words[at + 4]!), swap(words[at + 5]!), port)
  } else return false
  return true
}

/** Between network order and this machine's. */
function swap(word: number): number {
  return (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)
}
