/** What floods are made of. Nothing is allocated for a datagram. */

import type { Prng } from '../../core/testing/prng.ts'
import { writeRequest } from '../bench/relay/datagrams.ts'

/** The kinds: any bytes, checks with ufrags that look like ours, media of clients that nobody knows. */
export const KINDS = ['garbage', 'random ufrags', 'media from random sources'] as const

/** One of them. */
export type Kind = (typeof KINDS)[number]

const LETTERS = Buffer.from('abcdefghijklmnopqrstuvwxyz234567')
const MEDIA_BYTES = 160
/** Characters of a sealed ufrag from here on are nonce, route and tag; before them stand the version and the key. */
const SEALED_FROM = 8
const CHANGED = 40
const USERNAME_AT = 24

/** Writes datagrams of one kind, all of one length. */
export class FloodWriter {
  readonly length: number
  readonly #random: Prng
  readonly #template: Buffer
  readonly #kind: Kind

  /** `ufrag` is one that leads somewhere; what is made of it leads nowhere. */
  constructor(kind: Kind, ufrag: string, random: Prng) {
    this.#kind = kind
    this.#random = random
    this.#template = Buffer.alloc(200)
    const request = writeRequest(this.#template, 0, `${ufrag}:none`)
    this.length = kind === 'random ufrags' ? request : MEDIA_BYTES
    if (kind === 'random ufrags') return
    for (let i = 0; i < MEDIA_BYTES; i++) this.#template[i] = random.below(256)
    this.#template[0] = 0x80
    this.#template[1] = 111
  }

  /** Writes the next one at `at`. */
  write(into: Uint8Array, at: number): void {
    const random = this.#random
    into.set(this.#template.subarray(0, this.length), at)
    if (this.#kind === 'random ufrags') {
      const from = at + USERNAME_AT + SEALED_FROM
      for (let i = 0; i < CHANGED; i++) into[from + i] = LETTERS[random.below(32)]!
      return
    }
    for (let i = 2; i < 12; i++) into[at + i] = random.below(256)
    if (this.#kind === 'garbage') into[at] = random.below(256)
  }
}
