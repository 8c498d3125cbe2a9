/**
 * What stands for a ufrag in the tables: 128 bits of keyed digest, HalfSipHash-2-4 (64-bit output) under two keys. Two
 * ufrags with the same digest cannot be found without the key, which nothing shows, nor met by chance; so equal digests
 * are equal ufrags, and a ufrag takes 16 bytes instead of up to 96.
 */

const ROUND_BITS = 0x6c796765
const ROUND_BITS_2 = 0x74656462

/** The digest of one ufrag at a time. */
export class UfragDigest {
  /** The digest's four words. */
  readonly words = new Int32Array(4)
  readonly #key: Int32Array

  /** `key` is four secret words. */
  constructor(key: Int32Array) {
    this.#key = key
  }

  /** Becomes the digest of bytes[start, end). */
  update(bytes: Uint8Array, start: number, end: number): void {
    halfSipHash(this.#key[0]!, this.#key[1]!, bytes, start, end, this.words, 0)
    halfSipHash(this.#key[2]!, this.#key[3]!, bytes, start, end, this.words, 2)
  }
}

/** HalfSipHash-2-4 with 64 bits of output, as two little-endian words into[at] and into[at + 1]. */
export function halfSipHash(
  k0: number,
  k1: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Int32Array,
  at: number,
): void {
  let v0 = k0
  let v1 = k1 ^ 0xee
  let v2 = ROUND_BITS ^ k0
  let v3 = ROUND_BITS_2 ^ k1
  const whole = end - ((end - start) & 3)
  // Blocks, then the last bytes with the length, then 8 rounds of which the first 4 give the first word.
  for (let i = start, left = (whole - start) / 4 + 1 + 4; left > 0; i += 4, left--) {
    const isBlock = left > 4
    const block = left > 5 ? word(bytes, i) : isBlock ? lastWord(bytes, whole, end, end - start) : 0
    if (left === 4) v2 ^= 0xee
    if (left === 2) {
      into[at] = v1 ^ v3
      v1 ^= 0xdd
    }
    v3 ^= block
    for (let round = 0; round < 2; round++) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    v0 ^= block
  }
  into[at + 1] = v1 ^ v3
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function lastWord(bytes: Uint8Array, from: number, end: number, length: number): number {
  let last = length << 24
  for (let i = from; i < end; i++) last |= bytes[i]! << (8 * (i - from))
  return last
}
