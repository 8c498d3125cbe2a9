/** What became of texts, since the start: in shared memory, since codecs of one set of keys work in several threads. */

const KEYS = 256
const REASONS = ['malformed', 'unknown_key', 'forged'] as const

/**
 * Why a text was turned away. `malformed`: of another length, alphabet or version, nothing that this codec writes;
 * `unknown_key`: of a key that is not in the list; `forged`: of a key that is, and not written with it.
 */
export type Refusal = (typeof REASONS)[number]

/** How often, in two 32-bit words each: the lower ones, then the upper ones. */
const COUNTS = 2 * KEYS + REASONS.length

/** The counters of all codecs that share `memory`. */
export class CodecCounters {
  readonly memory: SharedArrayBuffer
  readonly #words: Uint32Array

  constructor(memory = new SharedArrayBuffer(8 * COUNTS)) {
    this.memory = memory
    this.#words = new Uint32Array(memory)
  }

  /** One more text was written with this key. */
  encoded(key: number): void {
    this.#add(key)
  }

  /** One more text was read with this key. */
  decoded(key: number): void {
    this.#add(KEYS + key)
  }

  /** One more text led nowhere. */
  refused(reason: Refusal): void {
    this.#add(2 * KEYS + REASONS.indexOf(reason))
  }

  /** The texts so far: written and read by key id, refused by reason. */
  read(): { encoded: number[]; decoded: number[]; refused: Record<Refusal, number> } {
    const range = (from: number): number[] =>
      Array.from({ length: KEYS }, (_, key) => this.#count(from + key))
    const [malformed, unknown_key, forged] = REASONS.map((_, i) => this.#count(2 * KEYS + i))
    return {
      encoded: range(0),
      decoded: range(KEYS),
      refused: { malformed: malformed!, unknown_key: unknown_key!, forged: forged! },
    }
  }

  #add(i: number): void {
    if (Atomics.add(this.#words, i, 1) === 0xffffffff) Atomics.add(this.#words, COUNTS + i, 1)
  }

  #count(i: number): number {
    return Atomics.load(this.#words, COUNTS + i) * 2 ** 32 + Atomics.load(this.#words, i)
  }
}
