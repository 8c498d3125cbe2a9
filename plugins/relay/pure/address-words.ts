/** Addresses in the words of a shared memory: the ip in four, then the port. */

import type { Address } from '../../../core/index.ts'

/** Words of an address. */
export const ADDRESS_WORDS = 5

/** Writes an address at word `at`. */
export function putAddress(words: Int32Array, at: number, { w0, w1, w2, w3, port }: Address): void {
  words[at] = w0
  words[at + 1] = w1
  words[at + 2] = w2
  words[at + 3] = w3
  words[at + 4] = port
}

/** Reads the one at word `at` into `into`, and returns that. */
export function getAddress(words: Int32Array, at: number, into: Address): Address {
  return into.set(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!, words[at + 4]!)
}

/** Whether this is the one at word `at`. */
export function isAddress(words: Int32Array, at: number, address: Address): boolean {
  return (
    words[at + 3] === address.w3 &&
    words[at + 4] === address.port &&
    words[at + 2] === address.w2 &&
    words[at + 1] === address.w1 &&
    words[at] === address.w0
  )
}
