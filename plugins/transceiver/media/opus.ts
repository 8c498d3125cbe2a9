/**
 * Opus, decoded at a bridge's own rate, mono, PCM16 little-endian: libopus codes at 8, 12, 16, 24 and 48 kHz natively,
 * so nothing resamples. A lost packet is made up from the next one's in-band FEC where it carries any, else by the
 * decoder's own concealment. Codecs are freed by `close`, not by the garbage collector, which does not see their
 * memory.
 */

import { EdgeError } from '../../../core/index.ts'
import { opusLibrary } from './opus-library.ts'

/** Rates that Opus codes at. */
export type OpusRate = 8000 | 12000 | 16000 | 24000 | 48000

/** How many codecs there are and have been, for leak tests and metrics. */
export const opusCounters = { decoders: 0, encoders: 0, encodersMade: 0 }

/** Decodes one source's packets. Not for use after `close`. */
export class OpusDecoder {
  readonly rate: OpusRate
  readonly #library = opusLibrary()
  #state = 0

  /** Throws EdgeError `internal` when there is no memory for it. */
  constructor(rate: OpusRate) {
    this.rate = rate
    this.#state = this.#library.allocate(this.#library.raw.opus_decoder_get_size(1))
    checkOpus(this.#library.raw.opus_decoder_init(this.#state, rate, 1), 'decoder')
    opusCounters.decoders++
  }

  /** The samples of the packet in bytes[start, end), a copy, or undefined when libopus finds it corrupt. */
  decode(bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
    return this.#run(bytes, start, end, (this.rate / 1000) * 120, 0)
  }

  /** What the packet before the one in bytes[start, end) held, of `samples` (at the decoder's rate). */
  recover(samples: number, bytes: Uint8Array, start: number, end: number): Uint8Array | undefined {
    return this.#run(bytes, start, end, samples, 1)
  }

  /** Makes up `samples` (at the decoder's rate; whole multiples of 2.5 ms, at most 120 ms) out of what came before. */
  conceal(samples: number): Uint8Array | undefined {
    return this.#run(undefined, 0, 0, samples, 0)
  }

  /** Forgets what came before, for another source. */
  reset(): void {
    if (this.#state !== 0) this.#library.raw.opus_decoder_init(this.#state, this.rate, 1)
  }

  /** Frees it. Idempotent. */
  close(): void {
    if (this.#state === 0) return
    this.#library.raw.free(this.#state)
    this.#state = 0
    opusCounters.decoders--
  }

  #run(
    bytes: Uint8Array | undefined,
    start: number,
    end: number,
    frameSize: number,
    fec: number,
  ): Uint8Array | undefined {
    if (this.#state === 0) return undefined
    const { raw, packet, samples } = this.#library
    const length = end - start
    if (length > 4096) return undefined
    const heap = this.#library.heap
    for (let i = 0; i < length; i++) heap[packet + i] = bytes![start + i]!
    const decoded = raw.opus_decode(this.#state, bytes ? packet : 0, length, samples, frameSize, fec)
    return decoded > 0 ? this.#library.heap.slice(samples, samples + 2 * decoded) : undefined
  }
}

/** Throws EdgeError `internal` for a libopus error. */
export function checkOpus(result: number, what: string): void {
  if (result !== 0)
    throw new EdgeError('internal', `The Opus ${what} did not start: libopus error ${result}.`)
}
