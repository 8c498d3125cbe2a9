/**
 * The door to native code: koffi, loaded at first use, and where bytes lie in memory.
 *
 * Promise: importing this file loads nothing. Only files in core/ffi import it.
 */

import { createRequire } from 'node:module'
import { EdgeError } from '../errors.ts'

type Koffi = typeof import('koffi').default

let loaded: Koffi | undefined

/** koffi itself. Throws EdgeError `openssl_unavailable` where it has no build for this platform. */
export function koffi(): Koffi {
  if (loaded) return loaded
  try {
    const module: Koffi = createRequire(import.meta.url)('koffi')
    loaded = module
    return module
  } catch (cause) {
    const message = `koffi, which calls OpenSSL, does not load on ${process.platform}-${process.arch}: reinstall the packages on this platform`
    throw new EdgeError('openssl_unavailable', message, { cause })
  }
}

const bases = new WeakMap<ArrayBufferLike, number>()
let lastBuffer: ArrayBufferLike | undefined
let lastBase = 0

/**
 * The address of the first byte of `bytes`. The engine never moves the memory of an ArrayBuffer, so the
 * answer is remembered per ArrayBuffer; a detached one has views of length 0, which every caller's
 * bounds check refuses. The caller keeps `bytes` alive while native code uses the address.
 */
export function addressOf(bytes: Uint8Array): number {
  // Asking for `buffer` also moves a small array off the garbage collector's heap, where it might be moved.
  const buffer = bytes.buffer
  if (buffer !== lastBuffer) {
    let base = bases.get(buffer)
    if (base === undefined) {
      base = Number(koffi().address(new Uint8Array(buffer)))
      bases.set(buffer, base)
    }
    lastBuffer = buffer
    lastBase = base
  }
  return lastBase + bytes.byteOffset
}

/** Memory of its own, zeroed, whose address may be kept as long as the buffer is. */
export function nativeBuffer(size: number): Buffer {
  return Buffer.allocUnsafeSlow(size).fill(0)
}
