/** Makes bad datagrams out of good ones: the same seed and the same good ones give the same bad ones. Pure. */

import type { Prng } from '../../core/testing/prng.ts'
import { kindOf, mend } from './mend.ts'

/** Longer than any port takes. */
const LONGEST = 2100
/** First bytes of STUN, DTLS, media, framing, TURN channels and nothing (RFC 7983). */
const FIRST_BYTES = [0, 1, 3, 20, 22, 23, 63, 128, 144, 191, 0x56, 64, 79, 127, 192, 255]
/** Values at which lengths, counts and offsets break. */
const EDGES = [0, 1, 2, 3, 4, 12, 13, 19, 20, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xfffe, 0xffff]

type Change = (bytes: Buffer) => Buffer

/** An endless supply. */
export class Mutator {
  readonly #random: Prng
  /** By their kind, so that the rare kinds get their turn as often as the common ones. */
  readonly #good: readonly (readonly Buffer[])[]
  readonly #changes: readonly Change[]

  /** `good` must not be empty; none of it is changed. */
  constructor(random: Prng, good: readonly Buffer[]) {
    this.#random = random
    this.#good = [...Map.groupBy(good, kindOf).values()]
    this.#changes = [
      (b) => this.#at(b, (at) => b.writeUInt8(b[at]! ^ (1 << random.below(8)), at)),
      (b) => this.#at(b, (at) => b.writeUInt8(random.below(256), at)),
      (b) => this.#at(b, (at) => b.writeUInt8(random.pick(EDGES) & 0xff, at)),
      (b) => this.#at(b, (at) => at + 2 <= b.length && b.writeUInt16BE(random.pick(EDGES), at)),
      (b) => this.#at(b, (at) => at + 2 <= b.length && b.writeUInt16BE(b.length - at, at)),
      (b) => this.#at(b, (at) => at + 4 <= b.length && b.writeUInt32BE(random.uint32(), at)),
      (b) =>
        this.#at(b, (at) => b.fill(random.pick([0, 255]), at, Math.min(b.length, at + random.below(16)))),
      (b) => b.subarray(0, random.below(b.length + 1)),
      (b) => b.subarray(random.below(Math.min(b.length, 40) + 1)),
      (b) => Buffer.concat([b, random.bytes(random.below(64))]),
      (b) => Buffer.concat([b, b.subarray(random.below(b.length + 1))]),
      (b) => Buffer.concat([b, random.pick(good)]),
      (b) => Buffer.concat([b.subarray(0, random.below(b.length + 1)), this.#tailOf(random.pick(good))]),
      (b) => Buffer.concat([this.#tailOf(b), b]),
    ]
  }

  /**
   * The next one: most often a good one with one to four changes, half of those with lengths and fingerprint put right
   * again, now and then noise, or one that is still good.
   */
  next(): Buffer {
    const random = this.#random
    if (random.chance(0.05)) return this.#noise()
    let bytes: Buffer = Buffer.from(random.pick(random.pick(this.#good)))
    if (random.chance(0.02)) return bytes
    for (let n = 1 + random.below(4); n > 0; n--) bytes = Buffer.from(random.pick(this.#changes)(bytes))
    if (random.chance(0.5)) bytes = mend(bytes)
    return bytes.subarray(0, LONGEST)
  }

  #noise(): Buffer {
    const bytes = this.#random.bytes(this.#random.below(this.#random.chance(0.1) ? LONGEST : 200))
    if (bytes.length > 0 && this.#random.chance(0.9)) bytes[0] = this.#random.pick(FIRST_BYTES)
    return bytes
  }

  #at(bytes: Buffer, change: (at: number) => unknown): Buffer {
    if (bytes.length > 0) change(this.#random.below(bytes.length))
    return bytes
  }

  #tailOf(bytes: Buffer): Buffer {
    return bytes.subarray(this.#random.below(bytes.length + 1))
  }
}
