/**
 * Opus at a bridge's own rate, mono, PCM16 little-endian: libopus codes at 8, 12, 16, 24 and 48 kHz natively, so
 * nothing resamples. A lost packet is made up from the next one's in-band FEC where it carries any, else by the
 * decoder's own concealment. Codecs are freed by `close`, not by the garbage collector, which does not see their
 * memory.
 */

import { EdgeError } from '../../../core/index.ts'
import { type NativeEncoder, nativeOpus, opusLibrary } from './opus-library.ts'
import { MAX_OPUS_PACKET } from './opus-packet.ts'

/** Rates that Opus codes at. */
export type OpusRate = 8000 | 12000 | 16000 | 24000 | 48000

const APPLICATION_VOIP = 2048
const SET_BITRATE = 4002
const SET_COMPLEXITY = 4010
const SET_INBAND_FEC = 4012
const SET_PACKET_LOSS = 4014
const RESET = 4028
/** Speech at 24 kHz is clean at 32 kb/s; complexity 5 costs two thirds of 10; FEC pays from a few % of loss on. */
const SETTINGS: readonly (readonly [number, number])[] = [
  [SET_BITRATE, 32000],
  [SET_COMPLEXITY, 5],
  [SET_INBAND_FEC, 1],
  [SET_PACKET_LOSS, 5],
]

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
    check(this.#library.raw.opus_decoder_init(this.#state, rate, 1), 'decoder')
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

/** Encodes one call's audio, 20 ms at a time. Not for use after `close`. */
export interface OpusEncoder {
  /**
   * Encodes the 20 ms of samples in `pcm` and writes the packet to `into` at `at`, which has MAX_OPUS_PACKET
   * bytes of room there; answers its length, or 0 when it failed.
   */
  encode(pcm: Uint8Array, into: Uint8Array, at: number): number
  /** Frees it. Idempotent. */
  close(): void
}

/** An encoder on the native build where there is one; `portable` asks for the WebAssembly build. */
export function openEncoder(rate: OpusRate, portable = false): OpusEncoder {
  const encoder = nativeOpus() === null || portable ? new PortableEncoder(rate) : new PooledEncoder(rate)
  opusCounters.encoders++
  return encoder
}

class PortableEncoder implements OpusEncoder {
  readonly #library = opusLibrary()
  #state = 0

  constructor(rate: OpusRate) {
    const { raw } = this.#library
    this.#state = this.#library.allocate(raw.opus_encoder_get_size(1))
    check(raw.opus_encoder_init(this.#state, rate, 1, APPLICATION_VOIP), 'encoder')
    for (const [request, value] of SETTINGS) raw.opus_encoder_ctl_set(this.#state, request, value)
  }

  encode(pcm: Uint8Array, into: Uint8Array, at: number): number {
    if (this.#state === 0) return 0
    const { raw, packet, samples } = this.#library
    this.#library.heap.set(pcm, samples)
    const length = raw.opus_encode(this.#state, samples, pcm.length / 2, packet, MAX_OPUS_PACKET)
    const heap = this.#library.heap
    for (let i = 0; i < length; i++) into[at + i] = heap[packet + i]!
    return Math.max(0, length)
  }

  close(): void {
    if (this.#state === 0) return
    this.#library.raw.free(this.#state)
    this.#state = 0
    opusCounters.encoders--
  }
}

/** Native encoders at rest, by rate: the native build frees them by garbage collection alone, so they are reused. */
const resting = new Map<OpusRate, NativeEncoder[]>()
const MOST_RESTING = 256

class PooledEncoder implements OpusEncoder {
  readonly #rate: OpusRate
  #encoder: NativeEncoder | undefined

  constructor(rate: OpusRate) {
    this.#rate = rate
    this.#encoder = resting.get(rate)?.pop() ?? makeNative(rate)
  }

  encode(pcm: Uint8Array, into: Uint8Array, at: number): number {
    const length = this.#encoder?.encode(pcm) ?? 0
    if (length <= 0 || length > MAX_OPUS_PACKET) return 0
    const encoded = nativeOutput()
    for (let i = 0; i < length; i++) into[at + i] = encoded[i]!
    return length
  }

  close(): void {
    const encoder = this.#encoder
    if (!encoder) return
    this.#encoder = undefined
    opusCounters.encoders--
    encoder.ctl(RESET)
    const pool = resting.get(this.#rate) ?? []
    resting.set(this.#rate, pool)
    if (pool.length < MOST_RESTING) pool.push(encoder)
  }
}

let output: Uint8Array | undefined

function nativeOutput(): Uint8Array {
  output ??= nativeOpus()!.buffers.encoder()
  return output
}

function makeNative(rate: OpusRate): NativeEncoder {
  const encoder = new (nativeOpus()!.Encoder)({ channels: 1, sample_rate: rate, application: 'voip' })
  for (const [request, value] of SETTINGS) encoder.ctl(request, value)
  opusCounters.encodersMade++
  return encoder
}

function check(result: number, what: string): void {
  if (result !== 0)
    throw new EdgeError('internal', `The Opus ${what} did not start: libopus error ${result}.`)
}
