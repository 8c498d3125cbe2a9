/**
 * Opus, encoded at a bridge's own rate from mono PCM16 little-endian, 20 ms at a time, by the native build where there
 * is one. DTX leaves out what is quiet, never what is merely no speech: libopus by itself would leave out a tone, too.
 * Encoders are freed by `close`, not by the garbage collector, which does not see their memory.
 */

import { checkOpus, type OpusRate, opusCounters } from './opus.ts'
import { type NativeEncoder, nativeOpus, opusLibrary } from './opus-library.ts'
import { MAX_OPUS_PACKET } from './opus-packet.ts'

/** How to encode. */
export interface OpusSettings {
  /** Bits a second, 6000 to 510000. */
  readonly bitrate: number
  /** 0 to 10. */
  readonly complexity: number
  /** Whether what is quieter than −60 dBFS for 200 ms is left out. */
  readonly dtx: boolean
  /** Whether packets carry what the ones before them held, once loss is expected. */
  readonly fec: boolean
}

/** Speech at 24 kHz is clean at 32 kb/s; complexity 5 costs two thirds of 10. */
export const VOICE: OpusSettings = { bitrate: 32000, complexity: 5, dtx: true, fec: true }

/** Of a hundred packets, how many are expected to be lost until a receiver's report says so: FEC pays from here on. */
export const EXPECTED_LOSS = 5
/** Below this a sample is quiet. A power of two. */
const QUIET = 32
const APPLICATION_VOIP = 2048
const SET_BITRATE = 4002
const SET_COMPLEXITY = 4010
const SET_INBAND_FEC = 4012
const SET_PACKET_LOSS = 4014
const SET_DTX = 4016
const RESET = 4028
const GET_IN_DTX = 4049

/** Encodes one call's audio. Not for use after `close`. */
export interface OpusEncoder {
  /**
   * Encodes the 20 ms of samples in `pcm` and writes the packet to `into` at `at`, which has MAX_OPUS_PACKET
   * bytes of room there; answers its length, or 0 when it failed. A packet of 2 bytes or less need not be sent.
   */
  encode(pcm: Uint8Array, into: Uint8Array, at: number): number
  /** Whether the last packet was silence: left out, or sent now and then to keep the receiver's noise up to date. */
  readonly isInDtx: boolean
  /** How many of a hundred packets get lost, which decides how much FEC is worth. */
  expectLoss(percent: number): void
  /** Frees it. Idempotent. */
  close(): void
}

/** An encoder on the native build where there is one; `portable` asks for the WebAssembly build. */
export function openEncoder(rate: OpusRate, settings: OpusSettings = VOICE, portable = false): OpusEncoder {
  const encoder =
    nativeOpus() === null || portable
      ? new PortableEncoder(rate, settings)
      : new PooledEncoder(rate, settings)
  opusCounters.encoders++
  return encoder
}

function apply(settings: OpusSettings, set: (request: number, value: number) => void): void {
  set(SET_BITRATE, settings.bitrate)
  set(SET_COMPLEXITY, settings.complexity)
  set(SET_DTX, 0)
  set(SET_INBAND_FEC, settings.fec ? 1 : 0)
  set(SET_PACKET_LOSS, EXPECTED_LOSS)
}

/** Looks for the first sample that is not quiet. */
function isQuiet(pcm: Uint8Array): boolean {
  for (let i = 0; i + 1 < pcm.length; i += 2) {
    const high = pcm[i + 1]!
    if (high === 0 ? pcm[i]! >= QUIET : high !== 255 || pcm[i]! <= 256 - QUIET) return false
  }
  return true
}

/** Turns DTX on while samples are quiet. */
class Dtx {
  readonly #wanted: boolean
  #on = false

  constructor(wanted: boolean) {
    this.#wanted = wanted
  }

  /** What DTX must be set to before these samples are encoded, or undefined where it is so already. */
  change(pcm: Uint8Array): 0 | 1 | undefined {
    if (!this.#wanted || isQuiet(pcm) === this.#on) return undefined
    this.#on = !this.#on
    return this.#on ? 1 : 0
  }
}

class PortableEncoder implements OpusEncoder {
  readonly #library = opusLibrary()
  readonly #dtx: Dtx
  #state = 0

  constructor(rate: OpusRate, settings: OpusSettings) {
    this.#dtx = new Dtx(settings.dtx)
    const { raw } = this.#library
    this.#state = this.#library.allocate(raw.opus_encoder_get_size(1))
    checkOpus(raw.opus_encoder_init(this.#state, rate, 1, APPLICATION_VOIP), 'encoder')
    apply(settings, (request, value) => raw.opus_encoder_ctl_set(this.#state, request, value))
  }

  get isInDtx(): boolean {
    return this.#state !== 0 && this.#library.raw.opus_encoder_ctl_get(this.#state, GET_IN_DTX) === 1
  }

  encode(pcm: Uint8Array, into: Uint8Array, at: number): number {
    if (this.#state === 0) return 0
    const { raw, packet, samples } = this.#library
    const dtx = this.#dtx.change(pcm)
    if (dtx !== undefined) raw.opus_encoder_ctl_set(this.#state, SET_DTX, dtx)
    this.#library.heap.set(pcm, samples)
    const length = raw.opus_encode(this.#state, samples, pcm.length / 2, packet, MAX_OPUS_PACKET)
    const heap = this.#library.heap
    for (let i = 0; i < length; i++) into[at + i] = heap[packet + i]!
    return Math.max(0, length)
  }

  expectLoss(percent: number): void {
    if (this.#state !== 0) this.#library.raw.opus_encoder_ctl_set(this.#state, SET_PACKET_LOSS, percent)
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
  readonly #dtx: Dtx
  #encoder: NativeEncoder | undefined

  constructor(rate: OpusRate, settings: OpusSettings) {
    this.#rate = rate
    this.#dtx = new Dtx(settings.dtx)
    const encoder = resting.get(rate)?.pop() ?? makeNative(rate)
    apply(settings, (request, value) => encoder.ctl(request, value))
    this.#encoder = encoder
  }

  get isInDtx(): boolean {
    return this.#encoder?.ctl(GET_IN_DTX) === 1
  }

  encode(pcm: Uint8Array, into: Uint8Array, at: number): number {
    const dtx = this.#dtx.change(pcm)
    if (dtx !== undefined) this.#encoder?.ctl(SET_DTX, dtx)
    const length = this.#encoder?.encode(pcm) ?? 0
    if (length <= 0 || length > MAX_OPUS_PACKET) return 0
    const encoded = nativeOutput()
    for (let i = 0; i < length; i++) into[at + i] = encoded[i]!
    return length
  }

  expectLoss(percent: number): void {
    this.#encoder?.ctl(SET_PACKET_LOSS, percent)
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
  opusCounters.encodersMade++
  return new (nativeOpus()!.Encoder)({ channels: 1, sample_rate: rate, application: 'voip' })
}
