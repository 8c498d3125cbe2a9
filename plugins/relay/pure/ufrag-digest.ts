/**
 * What stands for a ufrag in the tables: 128 bits of keyed digest, HalfSipHash-2-4 (64-bit output) under two keys. Two
 * ufrags with the same digest cannot be found without the keys, which nothing shows, nor met by chance; so equal digests
 * are equal ufrags, and a ufrag takes 16 bytes instead of up to 96.
 */

const INITIAL_2 = 0x6c796765
const INITIAL_3 = 0x74656462

/** The digest of one ufrag at a time. */
export class UfragDigest {
  /** The digest's four words. */
  readonly words = new Int32Array(4)
  readonly #key: Int32Array

  /** `key` is four secret words, two keys of HalfSipHash. */
  constructor(key: Int32Array) {
    this.#key = key
  }

  /** Becomes the digest of bytes[start, end): both hashes are made in one pass, a round of each in turns. */
  update(bytes: Uint8Array, start: number, end: number): void {
    const [key, words] = [this.#key, this.words]
    let a0 = key[0]!
    let a1 = key[1]! ^ 0xee
    let a2 = INITIAL_2 ^ key[0]!
    let a3 = INITIAL_3 ^ key[1]!
    let b0 = key[2]!
    let b1 = key[3]! ^ 0xee
    let b2 = INITIAL_2 ^ key[2]!
    let b3 = INITIAL_3 ^ key[3]!
    // Two rounds for each block and for the last one, which has the length; then four for each of the two words.
    for (let at = start, left = ((end - start) >> 2) + 5; left > 0; at += 4, left--) {
      const block = left > 5 ? wordAt(bytes, at) : left === 5 ? lastWord(bytes, at, start, end) : 0
      if (left === 4) {
        a2 ^= 0xee
        b2 ^= 0xee
      } else if (left === 2) {
        words[0] = a1 ^ a3
        words[2] = b1 ^ b3
        a1 ^= 0xdd
        b1 ^= 0xdd
      }
      a3 ^= block
      b3 ^= block
      for (let round = 0; round < 2; round++) {
        a0 = (a0 + a1) | 0
        b0 = (b0 + b1) | 0
        a1 = ((a1 << 5) | (a1 >>> 27)) ^ a0
        b1 = ((b1 << 5) | (b1 >>> 27)) ^ b0
        a0 = (a0 << 16) | (a0 >>> 16)
        b0 = (b0 << 16) | (b0 >>> 16)
        a2 = (a2 + a3) | 0
        b2 = (b2 + b3) | 0
        a3 = ((a3 << 8) | (a3 >>> 24)) ^ a2
        b3 = ((b3 << 8) | (b3 >>> 24)) ^ b2
        a0 = (a0 + a3) | 0
        b0 = (b0 + b3) | 0
        a3 = ((a3 << 7) | (a3 >>> 25)) ^ a0
        b3 = ((b3 << 7) | (b3 >>> 25)) ^ b0
        a2 = (a2 + a1) | 0
        b2 = (b2 + b1) | 0
        a1 = ((a1 << 13) | (a1 >>> 19)) ^ a2
        b1 = ((b1 << 13) | (b1 >>> 19)) ^ b2
        a2 = (a2 << 16) | (a2 >>> 16)
        b2 = (b2 << 16) | (b2 >>> 16)
      }
      a0 ^= block
      b0 ^= block
    }
    words[1] = a1 ^ a3
    words[3] = b1 ^ b3
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

/** The bytes that are left, and the length of all. */
function lastWord(bytes: Uint8Array, at: number, start: number, end: number): number {
  let last = (end - start) << 24
  for (let i = at; i < end; i++) last |= bytes[i]! << (8 * (i - at))
  return last
}
