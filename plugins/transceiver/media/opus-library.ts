/**
 * libopus as it comes with @evan/opus: its WebAssembly build by its raw exports, since the package's own classes
 * give neither concealment nor in-band FEC nor a way to free a codec; and its native build, which encodes a
 * quarter faster, where there is one for this machine.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { EdgeError } from '../../../core/index.ts'

/** The raw exports. Pointers are byte offsets into `memory`; sizes in samples are per channel. */
export interface OpusExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  malloc(bytes: number): number
  free(pointer: number): void
  opus_decoder_get_size(channels: number): number
  opus_decoder_init(decoder: number, rate: number, channels: number): number
  opus_decode(
    decoder: number,
    packet: number,
    bytes: number,
    pcm: number,
    frameSize: number,
    fec: number,
  ): number
  opus_encoder_get_size(channels: number): number
  opus_encoder_init(encoder: number, rate: number, channels: number, application: number): number
  opus_encode(encoder: number, pcm: number, frameSize: number, packet: number, maxBytes: number): number
  opus_encoder_ctl_set(encoder: number, request: number, value: number): number
  opus_encoder_ctl_get(encoder: number, request: number): number
}

/** An encoder of the native build. `encode` writes to the buffer all of them share and answers the length. */
export interface NativeEncoder {
  encode(pcm: Uint8Array): number
  ctl(request: number, value?: number): number
}

/** The native build. */
export interface NativeOpus {
  Encoder: new (options: { channels: number; sample_rate: number; application: string }) => NativeEncoder
  buffers: { encoder(): Uint8Array }
}

/** The WebAssembly build with scratch memory for one packet and its samples. */
export class OpusLibrary {
  readonly raw: OpusExports
  /** Where a packet is put, 4 KiB. */
  readonly packet: number
  /** Where samples are put, room for 120 ms at 48 kHz. */
  readonly samples: number
  #heap: Uint8Array

  constructor(raw: OpusExports) {
    this.raw = raw
    this.packet = raw.malloc(4096)
    this.samples = raw.malloc(2 * 5760)
    this.#heap = new Uint8Array(raw.memory.buffer)
  }

  /** The whole memory. Good until the next allocation in it, so never kept. */
  get heap(): Uint8Array {
    if (this.#heap.length === 0) this.#heap = new Uint8Array(this.raw.memory.buffer)
    return this.#heap
  }

  /** Allocates; throws EdgeError `internal` when there is no memory left. */
  allocate(bytes: number): number {
    const pointer = this.raw.malloc(bytes)
    if (pointer === 0) throw new EdgeError('internal', 'The Opus library is out of memory.')
    return pointer
  }
}

/** The part of the global that is used here; the DOM's types, which know all of it, are not this project's. */
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

const require = createRequire(import.meta.url)
let library: OpusLibrary | undefined
let native: NativeOpus | null | undefined

/** The WebAssembly build, compiled at the first call. Throws EdgeError `internal` when it does not run here. */
export function opusLibrary(): OpusLibrary {
  library ??= new OpusLibrary(instantiate())
  return library
}

/** The native build, or null where there is none for this machine. */
export function nativeOpus(): NativeOpus | null {
  if (native === undefined) {
    try {
      native = require(`@evan/opus/node/${process.arch}-${process.platform}.node`)
    } catch {
      native = null
    }
  }
  return native ?? null
}

/** A module of one function that uses a 128-bit vector: valid only where SIMD is. */
const SIMD_PROBE = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  4,
  1,
  96,
  0,
  0,
  3,
  2,
  1,
  0,
  10,
  9,
  1,
  7,
  0,
  65,
  0,
  253,
  15,
  26,
  11,
)

function instantiate(): OpusExports {
  const build = WebAssembly.validate(SIMD_PROBE) ? 'simd' : 'opus'
  const module = new WebAssembly.Module(readFileSync(require.resolve(`@evan/opus/wasm/${build}.wasm`)))
  const nothing = (): void => {}
  const instance = new WebAssembly.Instance(module, {
    wasi_snapshot_preview1: { fd_seek: nothing, fd_write: nothing, fd_close: nothing, proc_exit: nothing },
    env: { emscripten_notify_memory_growth: nothing },
  })
  const exports: unknown = instance.exports
  if (!isOpus(exports)) throw new EdgeError('internal', 'The Opus library lacks a function it should export.')
  return exports
}

function isOpus(exports: unknown): exports is OpusExports {
  const functions = [
    'malloc',
    'free',
    'opus_decoder_get_size',
    'opus_decoder_init',
    'opus_decode',
    'opus_encoder_get_size',
    'opus_encoder_init',
    'opus_encode',
    'opus_encoder_ctl_set',
    'opus_encoder_ctl_get',
  ]
  return (
    typeof exports === 'object' &&
    exports !== null &&
    'memory' in exports &&
    functions.every((name) => typeof Reflect.get(exports, name) === 'function')
  )
}
